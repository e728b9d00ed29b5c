/** A running operator: its controllers under a lease, and its webhook server; both use only its service accounts. */
import { createServer } from "node:https";
import type { Server } from "node:https";
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "../../../src/api/generated/types/admissionregistration-v1.ts";
import { createTextLog } from "../../../src/base/log/log-text.ts";
import type { Client } from "../../../src/client/client.ts";
import type { Connection } from "../../../src/client/connection.ts";
import type { Controller } from "../../../src/runtime/controller/controller.ts";
import { createManager } from "../../../src/runtime/manager/manager.ts";
import { listening } from "../../../src/server/egress/fixture.ts";
import { WebhookServer } from "../webhook-server.ts";
import type { Behaviour, ReviewRequest } from "../webhook-server.ts";

export interface OperatorPlan {
  readonly controllers: readonly Controller[];
  readonly lease: { readonly namespace: string; readonly name: string };
}

export class OperatorRun implements AsyncDisposable {
  readonly client: Client;
  readonly identity: string;
  readonly #complaints: string[] = [];
  readonly #connection: Connection;
  readonly #ending = new AbortController();
  readonly #running: Promise<void>;

  private constructor(connection: Connection, plan: OperatorPlan) {
    this.client = connection.client;
    this.identity = `${plan.lease.name}-0`;
    this.#connection = connection;
    const manager = createManager({
      transport: connection.transport,
      client: connection.client,
      controllers: plan.controllers,
      leaderElection: plan.lease,
      identity: this.identity,
      log: createTextLog({
        level: "warn",
        isColoured: false,
        write: (line) => this.#complaints.push(line),
      }),
    });
    this.#running = manager.run(this.#ending.signal);
  }

  /** Requests of the operator that were forbidden. */
  get refusals(): readonly string[] {
    return this.#complaints.filter((line) => line.includes("forbidden"));
  }

  static start(connection: Connection, plan: OperatorPlan): OperatorRun {
    return new OperatorRun(connection, plan);
  }

  /** Rejects when the operator failed. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#running;
    await this.#connection.close();
  }
}

interface HookNames {
  readonly mutating: string;
  readonly validating: string;
}

interface Hook {
  readonly clientConfig: { readonly service?: { readonly path?: string } | undefined };
}

/** Webhook server of an operator. It listens beside the cluster, as during development. */
export class OperatorWebhooks implements AsyncDisposable {
  readonly #hooks: WebhookServer;
  readonly #server: Server;
  readonly #port: number;

  private constructor(hooks: WebhookServer, server: Server, port: number) {
    this.#hooks = hooks;
    this.#server = server;
    this.#port = port;
  }

  static async listen(behaviours: Readonly<Record<string, Behaviour>>): Promise<OperatorWebhooks> {
    const hooks = await WebhookServer.make();
    for (const [path, behaviour] of Object.entries(behaviours)) hooks.on(path, behaviour);
    const server = createServer(await hooks.authority.leaf(["127.0.0.1"]), hooks.listener);
    return new OperatorWebhooks(hooks, server, await listening(server));
  }

  clientConfig(path: string): { readonly url: string; readonly caBundle: string } {
    const caBundle = Buffer.from(this.#hooks.authority.cert).toString("base64");
    return { url: `https://127.0.0.1:${String(this.#port)}${path}`, caBundle };
  }

  /**
   * Writes the CA, and the URL if `how` is `reached`, into the operator's own configurations, each by another kind of request.
   */
  async inject(client: Client, names: HookNames, how: "trusted" | "reached"): Promise<void> {
    const configOf = ({ clientConfig }: Hook): object =>
      how === "trusted"
        ? { ...clientConfig, caBundle: this.clientConfig("").caBundle }
        : this.clientConfig(clientConfig.service?.path ?? "/");
    const mutations = await client(MutatingWebhookConfiguration).get({ name: names.mutating });
    const changed = (mutations.webhooks ?? []).map((hook) => ({ ...hook, clientConfig: configOf(hook) }));
    await client(MutatingWebhookConfiguration).update({ ...mutations, webhooks: changed });
    const { webhooks = [] } = await client(ValidatingWebhookConfiguration).get({ name: names.validating });
    const operations = webhooks.map((hook, at) => ({
      op: "replace" as const,
      path: `/webhooks/${String(at)}/clientConfig`,
      value: configOf(hook),
    }));
    await client(ValidatingWebhookConfiguration).patch(
      { name: names.validating },
      { type: "json", operations },
    );
  }

  /** Reviews on a path, in order. */
  requests(path: string): readonly ReviewRequest[] {
    return this.#hooks.requests(path);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
    });
  }
}
