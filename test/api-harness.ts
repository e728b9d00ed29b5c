/** An API server without sockets for tests: requests go straight to its handler. */
import { requestEntityTooLarge } from "../src/api/errors/api-error.ts";
import { silentLog } from "../src/base/log/log.ts";
import type { Loop } from "../src/base/loop/loop.ts";
import { createRealLoop } from "../src/base/loop/real/real-loop.ts";
import { createMetrics } from "../src/base/metrics/prom-metrics.ts";
import { admissionForLoops } from "../src/cluster/loops/needed-loops.ts";
import type { ServedVersions } from "../src/server/objects/registry.ts";
import { makeTokenKeys } from "../src/server/pki/token-keys.ts";
import { fedPieces } from "../src/server/representation/fixture.ts";
import type { HttpHandler, HttpResponse, PeerIdentity } from "../src/server/request/http.ts";
import { createApiServer } from "../src/server/server.ts";
import type { ApiServer } from "../src/server/server.ts";
import type { Journal } from "../src/server/write/journal.ts";
import { openMemoryStore } from "../src/store/memory-store.ts";
import type { Store } from "../src/store/store.ts";
import type { LocalNodes } from "../src/streams/node-http.ts";

export interface Reply {
  readonly code: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly bytes: Buffer;
  /** Body as JSON; loosely typed, because tests read whatever they expect. */
  readonly body: ReplyBody;
}

export interface ReplyBody {
  readonly [field: string]: ReplyBody;
}

/** Text of a field; empty when the field is absent. */
export function text(field: ReplyBody | undefined): string {
  return (field ?? "") as string;
}

/** Items of a field that is known to be a list; empty when it is not there. */
export function listOf<T = ReplyBody>(field: ReplyBody | undefined): readonly T[] {
  return (field ?? []) as readonly T[];
}

export interface RequestOptions {
  readonly type?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** User of the request; a user with all rights by default. */
  readonly as?: PeerIdentity;
}

export interface TestApiOptions {
  /** A caller that passes a virtual loop drives it, and starts without namespaces. */
  readonly loop?: Loop;
  /** An empty memory store by default. */
  readonly store?: Store;
  readonly isServed?: ServedVersions;
  /** Disabled admission plugins. Plugins that depend on controllers are disabled by default, because no controller runs here. */
  readonly disabled?: readonly string[];
  /** Nodes that run in this process. */
  readonly localNodes?: LocalNodes;
  /** Whether definitions of custom kinds stay as clients write them: the server neither establishes them nor cleans up after them. */
  readonly leavesDefinitions?: boolean;
}

export class TestApi implements AsyncDisposable {
  readonly store: Store;
  readonly handler: HttpHandler;
  readonly journal: Journal;
  readonly #ending = new AbortController();
  readonly #running: Promise<void>;

  private constructor(store: Store, server: ApiServer, { leavesDefinitions = false }: TestApiOptions) {
    this.store = store;
    this.handler = server.handler;
    this.journal = server.journal;
    this.#running = leavesDefinitions ? Promise.resolve() : server.run(this.#ending.signal);
  }

  static async start(
    namespaces: readonly string[] = ["default"],
    options: TestApiOptions = {},
  ): Promise<TestApi> {
    const { loop = createRealLoop({ name: "test" }), isServed, disabled } = options;
    const { store = openMemoryStore({ loop: loop.child("store") }) } = options;
    const surroundings = { loop: loop.child("server"), log: silentLog, metrics: createMetrics(), store };
    const server = createApiServer(surroundings, {
      tokenKeys: makeTokenKeys,
      admission: disabled === undefined ? admissionForLoops("none") : { disabled },
      isServed,
      nodes: { local: options.localNodes },
    });
    const api = new TestApi(store, server, options);
    for (const name of namespaces) {
      await api.send("POST", "/api/v1/namespaces", {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name },
      });
    }
    return api;
  }

  async send(method: string, target: string, body?: unknown, options: RequestOptions = {}): Promise<Reply> {
    const response = await this.raw(method, target, body, options);
    const bytes = await wholeBody(response);
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
    let parsed: ReplyBody | undefined;
    return {
      code: response.status,
      headers: response.headers,
      bytes,
      // Parsed when a test reads it: most replies of several megabytes are not read.
      get body() {
        return (parsed ??= (isJson && bytes.length > 0 ? JSON.parse(bytes.toString()) : {}) as ReplyBody);
      },
    };
  }

  async raw(
    method: string,
    target: string,
    body?: unknown,
    options: RequestOptions = {},
  ): Promise<HttpResponse> {
    const bytes =
      body === undefined
        ? Buffer.alloc(0)
        : body instanceof Uint8Array
          ? body
          : Buffer.from(JSON.stringify(body));
    const headers = new Map(Object.entries({ "user-agent": "test/1", ...options.headers }));
    if (body !== undefined) headers.set("content-type", options.type ?? "application/json");
    if (options.accept !== undefined) headers.set("accept", options.accept);
    return this.handler({
      method,
      target,
      headers,
      peer: options.as ?? { user: "admin", groups: ["system:masters"] },
      signal: options.signal ?? new AbortController().signal,
      readBody: (maxBytes) =>
        bytes.length > maxBytes
          ? Promise.reject(requestEntityTooLarge(`limit is ${String(maxBytes)}`))
          : Promise.resolve(bytes),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#running;
    await this.store.close();
  }
}

export async function wholeBody({ body, feed }: HttpResponse): Promise<Buffer> {
  if (feed === undefined && body instanceof Uint8Array) return Buffer.from(body);
  const pieces: Uint8Array[] = [];
  for await (const piece of feed === undefined ? (body as AsyncIterable<Uint8Array>) : fedPieces(feed))
    pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Lines of a watch, one event each, until the watch ends or the reader leaves. */
export async function* watchEvents(
  response: HttpResponse,
): AsyncGenerator<{ type: string; object: ReplyBody }> {
  if (response.feed === undefined) throw new Error("a watch is a feed");
  let rest = "";
  for await (const piece of fedPieces(response.feed)) {
    const lines = (rest + Buffer.from(piece).toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line) as { type: string; object: ReplyBody };
  }
}

/** Resolves once the object meets the condition or is gone; waits by a watch, as clients do. */
export async function until(
  api: TestApi,
  target: string,
  isDone: (object: ReplyBody | undefined) => boolean,
): Promise<void> {
  const at = target.lastIndexOf("/");
  const query = `fieldSelector=metadata.name%3D${target.slice(at + 1)}`;
  const { body } = await api.send("GET", `${target.slice(0, at)}?${query}`);
  const [present] = listOf(body["items"]);
  if (isDone(present)) return;
  const ending = new AbortController();
  const after = `resourceVersion=${text(body["metadata"]?.["resourceVersion"])}`;
  const response = await api.raw("GET", `${target.slice(0, at)}?watch=1&${after}&${query}`, undefined, {
    signal: ending.signal,
  });
  for await (const { type, object } of watchEvents(response)) {
    if (!isDone(type === "DELETED" ? undefined : object)) continue;
    ending.abort();
    return;
  }
}

export function hasCondition(type: string, status = "True"): (object: ReplyBody | undefined) => boolean {
  return (object) => {
    const conditions = listOf<{
      type: string;
      status: string;
    }>(object?.["status"]?.["conditions"]);
    return conditions.some((condition) => condition.type === type && condition.status === status);
  };
}
