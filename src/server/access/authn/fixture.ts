/**
 * A server without sockets for authentication tests: requests with given headers and certificates run through the
 * whole pipeline.
 */
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";
import type { JsonObject } from "../../../api/json/json-object.ts";
import type { Log, LogFields } from "../../../base/log/log.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import { createRealLoop } from "../../../base/loop/real/real-loop.ts";
import { createMetrics } from "../../../base/metrics/prom-metrics.ts";
import { openMemoryStore } from "../../../store/memory-store.ts";
import type { TokenKeys } from "../../pki/pki-folder.ts";
import { makeTokenKeys } from "../../pki/token-keys.ts";
import type { HttpHandler, PeerIdentity } from "../../request/http.ts";
import { createApiServer } from "../../server.ts";
import type { AuthorizerOptions } from "../authz/authorization-options.ts";
import type { AuthenticationOptions } from "./create-authentication.ts";

/** Loosely typed, so that tests can read any field. */
export interface Seen {
  readonly [field: string]: Seen;
}

export interface Sender {
  readonly peer?: PeerIdentity;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface SeenReply {
  readonly code: number;
  readonly body: Seen;
  readonly text: string;
  readonly headers: ReadonlyMap<string, string>;
}

const ADMIN: Sender = { peer: { user: "admin", groups: ["system:masters"] } };

interface Asking {
  readonly method: string;
  readonly target: string;
  readonly body?: unknown;
  readonly from: Sender;
}

export class AuthenticationFixture {
  readonly keys: TokenKeys = makeTokenKeys();
  /** All log output as one text. */
  logged = "";
  readonly loop: Loop;
  readonly #handler: HttpHandler;

  private constructor(
    options: AuthenticationOptions,
    loop: Loop,
    authorization: readonly AuthorizerOptions[] | undefined,
  ) {
    this.loop = loop;
    const surroundings = {
      loop: loop.child("server"),
      log: this.#log(),
      metrics: createMetrics(),
      store: openMemoryStore({ loop: loop.child("store") }),
    };
    const { handler } = createApiServer(surroundings, {
      tokenKeys: () => this.keys,
      admission: { disabled: ["ServiceAccount", "TaintNodesByCondition"] },
      authentication: options,
      authorization,
    });
    this.#handler = handler;
  }

  static async start(
    options: AuthenticationOptions = {},
    loop: Loop = createRealLoop({ name: "test" }),
    authorization?: readonly AuthorizerOptions[],
  ): Promise<AuthenticationFixture> {
    const fixture = new AuthenticationFixture(options, loop, authorization);
    for (const name of ["default", "kube-system"])
      await fixture.send("POST", "/api/v1/namespaces", { metadata: { name } });
    const self = {
      apiGroups: ["authentication.k8s.io"],
      resources: ["selfsubjectreviews"],
      verbs: ["create"],
    };
    await fixture.allow("basic", [self], [{ kind: "Group", name: "system:authenticated" }]);
    return fixture;
  }

  /** Sends a request as the administrator. */
  send(method: string, target: string, body?: unknown): Promise<SeenReply> {
    return this.ask({ method, target, body, from: ADMIN });
  }

  async ask({ method, target, body, from }: Asking): Promise<SeenReply> {
    const headers = new Map(Object.entries({ "user-agent": "test/1", ...from.headers }));
    if (from.token !== undefined) headers.set("authorization", `Bearer ${from.token}`);
    if (body !== undefined) headers.set("content-type", "application/json");
    const bytes = Buffer.from(body === undefined ? "" : JSON.stringify(body));
    const response = await this.#handler({
      method,
      target,
      headers,
      peer: from.peer,
      signal: new AbortController().signal,
      readBody: () => Promise.resolve(bytes),
    });
    const text = response.body instanceof Uint8Array ? Buffer.from(response.body).toString() : "";
    const isJson = response.headers.get("content-type")?.includes("json") === true;
    const seen = (isJson ? JSON.parse(text) : {}) as Seen;
    return { code: response.status, body: seen, text, headers: response.headers };
  }

  /** Grants subjects a ClusterRole with these rules. */
  async allow(name: string, rules: readonly object[], subjects: readonly object[]): Promise<void> {
    const path = "/apis/rbac.authorization.k8s.io/v1";
    await this.send("POST", `${path}/clusterroles`, { metadata: { name }, rules });
    await this.send("POST", `${path}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
      subjects,
    });
  }

  /** The user as the server sees it; the status code if the server refuses the client. */
  async whoIs(from: Sender): Promise<Seen | number> {
    const { code, body } = await this.ask({
      method: "POST",
      target: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      body: {},
      from,
    });
    return code === 201 ? (body["status"]?.["userInfo"] ?? code) : code;
  }

  async nameOf(from: Sender): Promise<unknown> {
    const found = await this.whoIs(from);
    return typeof found === "number" ? found : found["username"];
  }

  async review(token: string, audiences?: readonly string[]): Promise<Seen> {
    const { body } = await this.send("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {
      spec: { token, ...(audiences !== undefined && { audiences }) },
    });
    return body["status"] ?? {};
  }

  async account(name: string, namespace = "default"): Promise<Seen> {
    const { body } = await this.send("POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, {
      metadata: { name },
    });
    return body;
  }

  async token(name: string, spec: object = {}): Promise<string> {
    const { body } = await this.send("POST", `/api/v1/namespaces/default/serviceaccounts/${name}/token`, {
      spec,
    });
    return (body["status"]?.["token"] ?? "") as string;
  }

  #log(): Log {
    const note = (message: string, fields?: LogFields): void => {
      const texts = Object.values(fields ?? {}).map((value) =>
        value instanceof Error ? `${value.message} ${String(value.stack)}` : JSON.stringify(value),
      );
      this.logged += `${message} ${texts.join(" ")}\n`;
    };
    const log: Log = { debug: note, info: note, warn: note, error: note, with: () => log };
    return log;
  }
}

export function claimsOf(token: string): JsonObject {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as JsonObject;
}

export function headerOf(token: string): JsonObject {
  return JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString()) as JsonObject;
}

type Signing =
  | { readonly type: "none" }
  | { readonly type: "secret"; readonly secret: string }
  | { readonly type: "key"; readonly key: KeyObject };

/** Builds tokens with any header and signature. */
/** Claims may be given as JSON text, which can hold numbers that no JavaScript value has. */
export function signToken(header: JsonObject, claims: JsonObject | string, signing: Signing): string {
  const texts = [JSON.stringify(header), typeof claims === "string" ? claims : JSON.stringify(claims)];
  const encoded = texts.map((part) => Buffer.from(part).toString("base64url"));
  const text = encoded.join(".");
  return `${text}.${signatureOf(text, signing).toString("base64url")}`;
}

function signatureOf(text: string, signing: Signing): Buffer {
  switch (signing.type) {
    case "none":
      return Buffer.alloc(0);
    case "secret":
      return createHmac("sha256", signing.secret).update(text).digest();
    case "key":
      return sign("sha256", Buffer.from(text), { key: signing.key, dsaEncoding: "ieee-p1363" });
  }
}

export function otherKey(): KeyObject {
  return generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
}
