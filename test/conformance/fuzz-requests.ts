/** Seeded requests that are almost valid: each has one broken part. */
import { Buffer } from "node:buffer";
import { apiVersionOf, groupVersions, isServedByDefault } from "../../src/api/schema/resource-facts.ts";
import { wholeBody } from "../api-harness.ts";
import type { TestApi } from "../api-harness.ts";
import { MINIMAL_OBJECTS } from "./minimal-objects.ts";

export interface FuzzRequest {
  readonly method: string;
  readonly target: string;
  readonly body: Uint8Array | undefined;
  readonly type: string;
  readonly accept: string;
}

export interface FuzzOutcome {
  /** Fault of the response; undefined if there is none. */
  readonly wrong: string | undefined;
  readonly tookMs: number;
}

const METHODS = [
  "GET",
  "GET",
  "POST",
  "POST",
  "POST",
  "PUT",
  "PATCH",
  "PATCH",
  "DELETE",
  "HEAD",
  "OPTIONS",
  "BREW",
];
const PATHS = [
  "/api/v1/namespaces/default/configmaps",
  "/api/v1/namespaces/default/configmaps/a",
  "/api/v1/namespaces/default/pods",
  "/api/v1/namespaces/default/pods/minimal/status",
  "/api/v1/namespaces/default/pods/minimal/eviction",
  "/api/v1/namespaces/default/services/minimal",
  "/api/v1/nodes",
  "/api/v1/namespaces",
  "/apis/apps/v1/namespaces/default/deployments",
  "/apis/apps/v1/namespaces/default/deployments/minimal",
  "/apis/apps/v1/namespaces/default/deployments/minimal/scale",
  "/apis/batch/v1/namespaces/default/jobs/minimal",
  "/apis/rbac.authorization.k8s.io/v1/clusterroles",
  "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
  "/apis/events.k8s.io/v1/namespaces/default/events",
  "/api",
  "/apis/apps",
  "/openapi/v3/api/v1",
  "/version",
];
const QUERIES = [
  "watch=1&timeoutSeconds=1",
  "limit=1",
  "limit=-1",
  "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6Miwic3RhcnQiOiJhIn0",
  "labelSelector=a%20in%20(b,c),!d",
  "labelSelector=%21%21%28",
  "fieldSelector=metadata.name%3Da",
  "fieldSelector=%5C",
  "resourceVersion=1",
  "resourceVersion=0&resourceVersionMatch=Exact",
  "dryRun=All",
  "fieldManager=me&force=true",
  "fieldValidation=Strict",
  "propagationPolicy=Foreground",
  "gracePeriodSeconds=-1",
  "pretty=true",
  "includeObject=Object",
  "%zz=%",
  "__proto__=1&constructor=2",
];
const TYPES = [
  "application/json",
  "application/json",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/json-patch+json",
  "application/apply-patch+yaml",
  "text/plain",
  ";;;",
];
const ACCEPTS = [
  "",
  "application/json",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
  "application/json;as=Table;g=meta.k8s.io;v=v1",
  "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
  "application/json;as=;g=;v=",
  "*/*;q=x",
  "text/html",
  ",,;,=",
];
/** Every kind that is served by default: where it is, and the least that is accepted there. */
const KINDS = groupVersions()
  .filter(isServedByDefault)
  .flatMap(({ resources }) => resources)
  .flatMap((facts) => {
    const apiVersion = apiVersionOf(facts);
    const minimal = MINIMAL_OBJECTS[`${apiVersion} ${facts.kind}`];
    if (minimal === undefined) return [];
    const root = facts.group === "" ? `/api/${facts.version}` : `/apis/${facts.group}/${facts.version}`;
    const collection = `${root}/${facts.namespaced ? "namespaces/default/" : ""}${facts.name}`;
    const object = { apiVersion, kind: facts.kind, metadata: { name: minimal.name }, ...minimal.body };
    return [{ collection, path: `${collection}/${minimal.name}`, object }];
  });
const BODIES = KINDS.map(({ object }) => Buffer.from(JSON.stringify(object)));
const ODD_VALUES: readonly unknown[] = [
  null,
  "",
  "x",
  " ",
  "-1",
  "1e9",
  "\u0000",
  "é".repeat(300),
  "10.0.0.0/33",
  "2026-13-01T00:00:00Z",
  "__proto__",
  0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  true,
  [],
  [[]],
  [null],
  {},
  { "": {} },
  { constructor: { prototype: 1 } },
];
const PATCHES = [
  '[{"op":"add","path":"/metadata/labels","value":{"a":"b"}},{"op":"copy","from":"/metadata","path":"/data"}]',
  '{"metadata":{"labels":{"a":null},"finalizers":["a/b"]},"$patch":"replace"}',
  '{"spec":{"template":{"spec":{"containers":[{"name":"app","$patch":"delete"}],"$setElementOrder/containers":[{"name":"x"}]}}}}',
  '{"data":{"$deleteFromPrimitiveList/k":["v"],"$retainKeys":["a"]}}',
].map((text) => Buffer.from(text));
const TOKENS = [
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  '"',
  "null",
  "-1",
  "1e999",
  "\\u0000",
  "__proto__",
  "\xff",
  "0.5",
  "&a",
  "*a",
  "\n- ",
];

export class FuzzRun {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** Mostly a request that passes the first checks, else any request. */
  next(): FuzzRequest {
    return this.#below(4) === 0 ? this.#wild() : this.#plausible();
  }

  /** Right path, method and type, with an object that may be wrong somewhere. */
  #plausible(): FuzzRequest {
    const { collection, path, object } = this.#pick(KINDS);
    const body = structuredClone(object) as Record<string, unknown>;
    for (let changes = this.#below(3); changes > 0; changes--) this.#spoil(body);
    const bytes = Buffer.from(JSON.stringify(body));
    const accept = this.#below(4) === 0 ? this.#pick(ACCEPTS) : "application/json";
    const query = this.#below(4) === 0 ? `?${this.#pick(QUERIES)}` : "";
    const json = { accept, body: bytes, type: "application/json" };
    const operations = JSON.stringify([{ op: "replace", path: "", value: body }]);
    return this.#pick([
      { ...json, method: "POST", target: collection + query },
      { ...json, method: "POST", target: collection },
      { ...json, method: "PUT", target: path + query },
      { ...json, method: "PUT", target: `${path}/status` },
      { ...json, method: "PATCH", target: path + query, type: "application/merge-patch+json" },
      { ...json, method: "PATCH", target: path, type: "application/strategic-merge-patch+json" },
      { ...json, method: "PATCH", target: `${path}/status`, type: "application/merge-patch+json" },
      { ...json, method: "PATCH", target: `${path}?fieldManager=me`, type: "application/apply-patch+yaml" },
      {
        ...json,
        method: "PATCH",
        target: path,
        type: "application/json-patch+json",
        body: Buffer.from(operations),
      },
      { ...json, method: "GET", target: collection + query, body: undefined },
      { ...json, method: "GET", target: path + query, body: undefined },
      { ...json, method: "DELETE", target: path + query, body: undefined },
    ]);
  }

  /** Puts an odd value at some place of an object. */
  #spoil(body: Record<string, unknown>): void {
    let place: Record<string, unknown> = body;
    for (;;) {
      const key = this.#pick([...Object.keys(place), "nonsense"]);
      const inner = place[key];
      if (typeof inner === "object" && inner !== null && this.#below(5) > 0) {
        place = inner as Record<string, unknown>;
        continue;
      }
      if (this.#below(4) === 0) delete place[key];
      else place[key] = structuredClone(this.#pick(ODD_VALUES));
      return;
    }
  }

  #wild(): FuzzRequest {
    const method = this.#pick(METHODS);
    const hasBody = method !== "GET" && method !== "HEAD" && this.#below(8) > 0;
    const query = this.#below(2) === 0 ? "" : `?${this.#pick(QUERIES)}&${this.#pick(QUERIES)}`;
    return {
      method,
      target: this.#path() + query,
      body: hasBody ? this.#body(method) : undefined,
      type: this.#pick(TYPES),
      accept: this.#pick(ACCEPTS),
    };
  }

  async answer(api: TestApi, request: FuzzRequest): Promise<FuzzOutcome> {
    const began = performance.now();
    const wrong = await problemOf(api, request);
    return { wrong, tookMs: performance.now() - began };
  }

  #path(): string {
    const path = this.#pick(PATHS);
    if (this.#below(4) > 0) return path;
    const at = this.#below(path.length);
    return (
      path.slice(0, at) +
      this.#pick(["/", "%2f", "%", "..", "\0", "é", "__proto__", "?"]) +
      path.slice(at + 1)
    );
  }

  #body(method: string): Uint8Array {
    if (this.#below(10) === 0)
      return Buffer.from(Array.from({ length: this.#below(200) }, () => this.#below(256)));
    const isPatch = method === "PATCH" && this.#below(2) === 0;
    let body: Buffer = this.#pick<Buffer>(isPatch ? PATCHES : BODIES);
    for (let changes = this.#below(4); changes > 0; changes--) body = this.#broken(body);
    return body;
  }

  #broken(body: Buffer): Buffer {
    const from = this.#below(body.length + 1);
    const to = Math.min(body.length, from + this.#below(12));
    const middle = [
      Buffer.alloc(0),
      Buffer.from(this.#pick(TOKENS), "latin1"),
      Buffer.from(this.#pick(TOKENS).repeat(1 + this.#below(50)), "latin1"),
      Buffer.concat([body.subarray(from, to), body.subarray(from, to)]),
      this.#pick(BODIES),
    ];
    return Buffer.concat([body.subarray(0, from), this.#pick(middle), body.subarray(to)]);
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#below(items.length)] as T;
  }

  /** mulberry32. */
  #below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * limit);
  }
}

async function problemOf(api: TestApi, request: FuzzRequest): Promise<string | undefined> {
  const { method, target, body, type, accept } = request;
  const gone = new AbortController();
  try {
    const response = await api.raw(method, target, body, { type, accept, signal: gone.signal });
    gone.abort();
    const bytes = await wholeBody(response);
    if (response.status < 400) return undefined;
    if (response.status === 500) return `500: ${bytes.toString()}`;
    const isJson = response.headers.get("content-type") === "application/json";
    return isJson && !isStatus(bytes, response.status) ? `no Status: ${bytes.toString()}` : undefined;
  } catch (error) {
    return `threw ${String(error)}`;
  }
}

function isStatus(bytes: Buffer, code: number): boolean {
  const value = JSON.parse(bytes.toString()) as {
    kind?: unknown;
    status?: unknown;
    code?: unknown;
    message?: unknown;
  };
  return (
    value.kind === "Status" &&
    value.status === "Failure" &&
    value.code === code &&
    typeof value.message === "string"
  );
}
