/** An API server without sockets, and a webhook server that it calls over TLS. */
import { expect } from "vitest";
import { serve } from "../../src/server/egress/fixture.ts";
import { hasCondition, TestApi, until, text } from "../api-harness.ts";
import type { Reply } from "../api-harness.ts";
import { configuration, WebhookServer } from "./webhook-server.ts";
import type { Behaviour, HookChange } from "./webhook-server.ts";

export const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
export const PODS = "/api/v1/namespaces/default/pods";
export const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1";
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

interface HookPlan extends HookChange {
  readonly behaviour?: Behaviour;
}

export class WebhookFixture {
  readonly api: TestApi;
  readonly hooks: WebhookServer;
  readonly #port: number;

  constructor(api: TestApi, hooks: WebhookServer, port: number) {
    this.api = api;
    this.hooks = hooks;
    this.#port = port;
  }

  get port(): number {
    return this.#port;
  }

  clientConfig(path: string): { readonly url: string; readonly caBundle: string } {
    const caBundle = Buffer.from(this.hooks.authority.cert).toString("base64");
    return { url: `https://127.0.0.1:${String(this.#port)}${path}`, caBundle };
  }

  /** Registers webhooks; webhook INDEX of configuration NAME is called on the path `/NAME/INDEX`. */
  async register(type: "Mutating" | "Validating", name: string, plans: readonly HookPlan[]): Promise<void> {
    const hooks = plans.map(({ behaviour, ...hook }, at) => {
      const path = `/${name}/${String(at)}`;
      if (behaviour !== undefined) this.hooks.on(path, behaviour);
      return { clientConfig: this.clientConfig(path), ...hook };
    });
    const reply = await this.api.send("POST", this.place(type), configuration(type, name, hooks));
    expect(reply.body["message"]).toBeUndefined();
    expect(reply.code).toBe(201);
  }

  place(type: "Mutating" | "Validating"): string {
    return `${CONFIGURATIONS}/${type.toLowerCase()}webhookconfigurations`;
  }

  configMap(name: string, data: object = {}, namespace = "default"): Promise<Reply> {
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data };
    return this.api.send("POST", `/api/v1/namespaces/${namespace}/configmaps`, object);
  }

  pod(name: string, metadata: object = {}): Promise<Reply> {
    const spec = { containers: [{ name: "main", image: "example.com/main" }] };
    return this.api.send("POST", PODS, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, ...metadata },
      spec,
    });
  }

  async define(versions: readonly object[], change: object = {}): Promise<void> {
    const reply = await this.api.send("POST", DEFINITIONS, definition(versions, change));
    expect(reply.code).toBe(201);
    await until(this.api, `${DEFINITIONS}/widgets.example.com`, hasCondition("Established"));
  }
}

export function definition(versions: readonly object[], change: object = {}): object {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
      versions,
      ...change,
    },
  };
}

export function version(name: string, properties: object, storage: boolean): object {
  return {
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: { type: "object", properties: { data: { type: "object", properties } } } },
  };
}

export async function withWebhooks(run: (world: WebhookFixture) => Promise<void>): Promise<void> {
  await using api = await TestApi.start(["default", "other"]);
  const hooks = await WebhookServer.make();
  const pair = await hooks.authority.leaf(["127.0.0.1", "hook.default.svc"]);
  const { port } = await serve(pair, hooks.listener);
  await run(new WebhookFixture(api, hooks, port));
}

/** Status code and message of a refusal. */
export function refusal({ code, body }: Reply): readonly [number, string] {
  return [code, text(body["message"])];
}
