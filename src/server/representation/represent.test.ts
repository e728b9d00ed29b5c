import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { conflict, isApiError, tooManyRequests } from "../../api/errors/api-error.ts";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import { decodeMessage } from "../../api/protobuf/decode.ts";
import { encodeMessage } from "../../api/protobuf/encode.ts";
import { decodeObject, encodeList, readEnvelope } from "../../api/protobuf/envelope.ts";
import { WireReader } from "../../api/protobuf/wire-reader.ts";
import { builtInStruct, findKindSchema } from "../../api/schema/built-in-schema.ts";
import { parseYaml } from "../../api/yaml/yaml.ts";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import { flowSchema } from "../../resources/flow-control/flow-schema.ts";
import { podRowConditions } from "../../resources/pod/pod-cells.ts";
import { ageText } from "../../resources/rules/human-duration.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import { defineKind } from "../../resources/rules/kind-rules.ts";
import { encodeObject } from "../objects/object-encoder.ts";
import { isStored, Registry } from "../objects/registry.ts";
import type { Resource, StoredResource } from "../objects/registry.ts";
import { StoredObject } from "../objects/stored-object.ts";
import { Versions } from "../objects/versions.ts";
import type { Answer, ListAnswer, WatchAnswer, WatchEventAnswer } from "../request/answer.ts";
import type { AcceptedRequest, HttpResponse } from "../request/http.ts";
import { parseRequest } from "../request/parse-request.ts";
import type { ResourceRequest } from "../request/request-info.ts";
import { RequestNotes } from "../request/request-notes.ts";
import { fedPieces, TestEvents } from "./fixture.ts";
import { FormCache } from "./form-cache.ts";
import type { Asked } from "./form.ts";
import { errorResponse, represent } from "./represent.ts";
import { WatchBatcher } from "./watch-feed.ts";

const podRules = defineKind<Pod>("v1", "Pod", {
  cells: (pod, now) => [pod.metadata.name ?? "", "1/1", "Running", "0", String(now), "", "", "", ""],
  rowConditions: podRowConditions,
});
const registry = new Registry([podRules, flowSchema], ({ version }) => !version.includes("alpha"));
const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
const PARTIAL = "as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const PROTOBUF = "application/vnd.kubernetes.protobuf";

function resourceAt(group: string, version: string, resource: string): StoredResource {
  const found = registry.find({ group, version, resource });
  if (found === undefined || !isStored(found)) throw new Error(`${resource} is not stored`);
  return found;
}

const pods = resourceAt("", "v1", "pods");

function pod(name: string, revision = 7): StoredObject {
  const object = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { labels: { app: "wéb" }, name, namespace: "a", uid: "u-1" },
    spec: { containers: [{ name: "c", resources: {} }] },
    status: {},
  };
  return stored(object, revision);
}

function stored(object: ApiObject, modRevision: number): StoredObject {
  const encoded = encodeObject(object);
  return StoredObject.of({
    key: `/registry/x/${object.metadata.name ?? ""}`,
    value: encoded.bytes,
    createRevision: 1,
    modRevision,
    version: 1,
    ordinal: 0,
    expiresAt: undefined,
    slot: encoded,
  });
}

interface Ask {
  readonly accept?: string;
  readonly target?: string;
  readonly method?: string;
  readonly resource?: Resource;
  readonly headers?: Readonly<Record<string, string>>;
}

function ask({ accept, target = "/api/v1/namespaces/a/pods/p", method = "GET", ...more }: Ask = {}): Asked {
  const headers = new Map(Object.entries(more.headers ?? {}));
  if (accept !== undefined) headers.set("accept", accept);
  const request: AcceptedRequest = {
    headers,
    peer: undefined,
    signal: new AbortController().signal,
    readBody: () => Promise.resolve(new Uint8Array()),
  };
  const parsed = parseRequest(method, target);
  const info = parsed.info as ResourceRequest;
  return { request, query: parsed.query, resource: more.resource ?? pods, info };
}

const loop = new VirtualLoop({ seed: 1, startAt: 5000, outside: ["gzip"] });
const tools = {
  loop,
  versions: new Versions(new Map()),
  cache: new FormCache(),
  batcher: new WatchBatcher(loop),
};

async function bytesOf({ body, feed }: HttpResponse): Promise<Buffer> {
  if (feed === undefined && body instanceof Uint8Array) return Buffer.from(body);
  const parts: Uint8Array[] = [];
  const reading = (async () => {
    const pieces = feed === undefined ? (body as AsyncIterable<Uint8Array>) : fedPieces(feed);
    for await (const part of pieces) parts.push(part);
  })();
  await loop.settle();
  await reading;
  return Buffer.concat(parts);
}

async function show(answer: Answer, asked: Ask = {}): Promise<Buffer> {
  return bytesOf(represent(answer, ask(asked), tools));
}

async function showJson(answer: Answer, asked: Ask = {}): Promise<unknown> {
  return JSON.parse((await show(answer, asked)).toString("utf8"));
}

function storedAnswer(object: StoredObject, resource = pods): Answer {
  return { type: "stored", code: 200, stored: object, resource };
}

function nameless(json: Uint8Array): unknown {
  const {
    apiVersion: _version,
    kind: _kind,
    ...rest
  } = JSON.parse(Buffer.from(json).toString()) as JsonObject;
  return rest;
}

function listOf(...items: readonly StoredObject[]): ListAnswer {
  return {
    type: "list",
    items,
    resource: pods,
    resourceVersion: "90",
    continueToken: "next",
    remainingItems: 3,
  };
}

function watchOf(...batches: readonly (readonly WatchEventAnswer[])[]): WatchAnswer {
  const events = new TestEvents();
  for (const batch of batches) events.add(batch);
  events.close();
  return { type: "watch", resource: pods, events };
}

function refusal(run: () => unknown): { reason: string; message: string } {
  try {
    run();
  } catch (error) {
    if (isApiError(error)) return { reason: error.reason, message: error.message };
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("represent: one object", () => {
  test("JSON of the stored version is the stored bytes themselves", () => {
    const object = pod("p");

    const { body, status, headers } = represent(storedAnswer(object), ask(), tools);

    expect(body).toBe(object.json);
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("application/json");
    expect(headers.get("cache-control")).toBe("no-cache, private");
  });

  test("compact JSON ends with a newline, indented JSON does not", () => {
    const isLine = (accept: string): boolean | undefined =>
      represent(storedAnswer(pod("p")), ask({ accept }), tools).isLine;

    expect(
      ["application/json", "application/json;pretty=1", "application/yaml", PROTOBUF].map(isLine),
    ).toEqual([true, false, false, false]);
  });

  test("an object in another version has that apiVersion", async () => {
    const leases = resourceAt("networking.k8s.io", "v1beta1", "ipaddresses");
    const object = {
      apiVersion: "networking.k8s.io/v1",
      kind: "IPAddress",
      metadata: { name: "1.2.3.4", uid: "u" },
    };

    const shown = await showJson(storedAnswer(stored(object, 5), leases), { resource: leases });

    expect(shown).toMatchObject({
      apiVersion: "networking.k8s.io/v1beta1",
      metadata: { resourceVersion: "5" },
    });
  });

  test("protobuf has the object in an envelope", async () => {
    const object = pod("p");

    const envelope = readEnvelope(await show(storedAnswer(object), { accept: PROTOBUF }));

    expect(envelope).toMatchObject({ apiVersion: "v1", kind: "Pod" });
    expect(decodeObject(pods.schema, envelope)).toEqual(object.object);
  });

  test("YAML has the same content", async () => {
    const object = pod("p");

    const yaml = await show(storedAnswer(object), { accept: "application/yaml" });

    expect(parseYaml(yaml).value).toEqual(JSON.parse(object.json.toString()));
  });

  test("metadata alone is available in JSON and protobuf", async () => {
    const object = pod("p");
    const { metadata } = object.object;

    const json = await showJson(storedAnswer(object), { accept: `application/json;${PARTIAL}` });
    const protobuf = readEnvelope(await show(storedAnswer(object), { accept: `${PROTOBUF};${PARTIAL}` }));

    const type = { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata" };
    expect(json).toEqual({ ...type, metadata });
    expect(decodeObject(builtInStruct("meta.v1.PartialObjectMetadata"), protobuf)).toEqual({
      ...type,
      metadata,
    });
  });

  test("an object that is not stored is shown unchanged, for every kind", async () => {
    const scale = {
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "x" },
      spec: { replicas: 2 },
    };
    const answer: Answer = { type: "object", code: 201, object: scale };

    const schema = findKindSchema("autoscaling/v1", "Scale");
    const envelope = readEnvelope(await show(answer, { accept: PROTOBUF }));

    expect(await showJson(answer)).toEqual(scale);
    expect(schema === undefined ? undefined : decodeObject(schema, envelope)).toMatchObject(scale);
  });

  test("people get indented JSON", async () => {
    const answer: Answer = {
      type: "object",
      code: 200,
      object: JSON.parse('{"a":"x{","b":[],"c":[1,{"d":{}}]}') as ApiObject,
    };

    const text = (await show(answer, { headers: { "user-agent": "curl/8.0" } })).toString();

    expect(text).toBe(JSON.stringify(JSON.parse(text), null, 2));
    expect(
      (await show(answer, { target: "/api/v1/pods?pretty=0", headers: { "user-agent": "curl/8" } })).length,
    ).toBeLessThan(text.length);
  });

  test("warnings are quoted in one header", () => {
    const answer: Answer = { type: "stored", code: 200, stored: pod("p"), resource: pods };
    const notes = new RequestNotes();
    notes.warnAll(['a "b"', "c\nd", "c\nd"]);

    const { headers } = represent(answer, { ...ask(), notes }, tools);

    expect(headers.get("warning")).toBe(String.raw`299 - "a \"b\"", 299 - "c d"`);
  });
});

describe("represent: lists", () => {
  test("JSON joins the items' own bytes without apiVersion and kind", async () => {
    const items = [pod("p"), pod("q", 8)];

    expect(await showJson(listOf(...items), { target: "/api/v1/pods" })).toEqual({
      kind: "PodList",
      apiVersion: "v1",
      metadata: { resourceVersion: "90", continue: "next", remainingItemCount: 3 },
      items: items.map(({ json }) => nameless(json)),
    });
  });

  test("JSON items omit apiVersion and kind at any position, but no nested members of these names", async () => {
    const said = { apiVersion: "v1", kind: "Pod", 'a "kind":': '"kind":"Pod",' };
    const object = stored(
      {
        aside: said,
        apiVersion: "v1",
        data: [said],
        kind: "Pod",
        metadata: { annotations: said, name: "p", uid: "u-1" },
      } as ApiObject,
      7,
    );

    const shown = await showJson(listOf(object), { target: "/api/v1/pods" });

    expect(shown).toMatchObject({ items: [nameless(object.json)] });
    expect(JSON.stringify(shown).match(/"kind":"Pod"/g)).toHaveLength(3);
  });

  test("JSON of a list ends with a newline", async () => {
    const text = await show(listOf(pod("p"), pod("q", 8)), { target: "/api/v1/pods" });

    expect(text.toString().endsWith("]}\n")).toBe(true);
  });

  test("a long list is built as the client reads it", async () => {
    const items = Array.from({ length: 2000 }, (_, at) => pod(`p-${String(at)}`));

    const { body } = represent(listOf(...items), ask({ target: "/api/v1/pods" }), tools);

    expect(body).not.toBeInstanceOf(Uint8Array);
    const shown = JSON.parse((await bytesOf({ status: 200, headers: new Map(), body })).toString()) as {
      items: unknown[];
    };
    expect(shown.items).toHaveLength(2000);
  });

  test.each([1, 3, 250])("protobuf of %i items equals the output of encodeList", async (count) => {
    const items = Array.from({ length: count }, (_, at) => pod(`p-${String(at)}`));
    const metadata = { resourceVersion: "90", continue: "next", remainingItemCount: 3 };

    const bytes = await show(listOf(...items), { target: "/api/v1/pods", accept: PROTOBUF });

    const expected = encodeList(
      { apiVersion: "v1", kind: "PodList" },
      encodeMessage(builtInStruct("meta.v1.ListMeta"), metadata),
      items.map(({ object }) => encodeMessage(pods.schema, object)),
    );
    expect(bytes.equals(expected)).toBe(true);
  });

  test("YAML equals that of the whole list", async () => {
    const list = listOf(pod("p"), pod("q"));

    const yaml = await show(list, { target: "/api/v1/pods", accept: "application/yaml" });

    expect(parseYaml(yaml).value).toEqual(await showJson(list, { target: "/api/v1/pods" }));
  });

  test("a list of metadata has the metadata of all items", async () => {
    const accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

    expect(await showJson(listOf(pod("p")), { target: "/api/v1/pods", accept })).toMatchObject({
      kind: "PartialObjectMetadataList",
      apiVersion: "meta.k8s.io/v1",
      items: [{ kind: "PartialObjectMetadata", metadata: { name: "p", resourceVersion: "7" } }],
    });
  });

  test("a large list is compressed only for clients that ask", async () => {
    const items = Array.from({ length: 2000 }, (_, at) => pod(`p-${String(at)}`));
    const target = "/api/v1/pods";

    const zipped = represent(
      listOf(...items),
      ask({ target, headers: { "accept-encoding": "gzip" } }),
      tools,
    );
    const small = represent(listOf(pod("p")), ask({ target, headers: { "accept-encoding": "gzip" } }), tools);

    expect(zipped.headers.get("content-encoding")).toBe("gzip");
    expect(gunzipSync(await bytesOf(zipped)).equals(await show(listOf(...items), { target }))).toBe(true);
    expect(small.headers.has("content-encoding")).toBe(false);
    expect(
      represent(
        listOf(...items),
        ask({ target, headers: { "accept-encoding": "gzip;q=0" } }),
        tools,
      ).headers.has("content-encoding"),
    ).toBe(false);
  });
});

describe("represent: tables", () => {
  test("have a row for each item of a list, with its metadata", async () => {
    const table = await showJson(listOf(pod("p"), pod("q")), { target: "/api/v1/pods", accept: TABLE });

    expect(table).toMatchObject({
      kind: "Table",
      apiVersion: "meta.k8s.io/v1",
      metadata: { resourceVersion: "90" },
      columnDefinitions: pods.facts.columns?.map(({ name }) => ({ name })),
      rows: [
        {
          cells: ["p", "1/1", "Running", "0", "5000", "", "", "", ""],
          object: { kind: "PartialObjectMetadata", metadata: { name: "p" } },
        },
        { object: { metadata: { name: "q" } } },
      ],
    });
  });

  test("show the reason of a finished pod", async () => {
    const { object } = pod("p");
    const done = stored({ ...object, status: { phase: "Failed" } } as ApiObject, 7);

    expect(await showJson(listOf(pod("o"), done), { target: "/api/v1/pods", accept: TABLE })).toMatchObject({
      rows: [
        { cells: expect.anything() as unknown },
        { conditions: [{ type: "Completed", status: "True", reason: "Failed", message: "The pod failed." }] },
      ],
    });
  });

  test("list flow schemas in the order in which they match", async () => {
    const schemas = resourceAt("flowcontrol.apiserver.k8s.io", "v1", "flowschemas");
    const named = (name: string, matchingPrecedence: number): StoredObject => {
      const spec = { matchingPrecedence, priorityLevelConfiguration: { name: "l" } };
      const { apiVersion, facts } = schemas;
      const object = { apiVersion, kind: facts.kind, metadata: { name, uid: "u-1" }, spec, status: {} };
      return stored(object, 7);
    };
    const list = { ...listOf(named("a", 9), named("b", 1), named("c", 9)), resource: schemas };
    const target = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas";

    expect(await showJson(list, { target, accept: TABLE, resource: schemas })).toMatchObject({
      rows: ["b", "a", "c"].map((name) => ({ object: { metadata: { name } } })),
    });
  });

  test.each([
    ["None", null],
    ["Object", expect.objectContaining({ kind: "Pod", apiVersion: "v1" })],
  ] as readonly (readonly [string, unknown])[])(
    "rows carry what includeObject=%s says",
    async (include, object) => {
      const target = `/api/v1/namespaces/a/pods/p?includeObject=${include}`;

      expect(await showJson(storedAnswer(pod("p")), { target, accept: TABLE })).toMatchObject({
        rows: [{ object }],
      });
    },
  );

  test("have the same content in YAML", async () => {
    const list = listOf(pod("p"));
    const target = "/api/v1/pods";

    const yaml = await show(list, { target, accept: TABLE.replace("json", "yaml") });

    expect(parseYaml(yaml).value).toEqual(await showJson(list, { target, accept: TABLE }));
  });

  test("show name and time of creation for kinds without cells", async () => {
    const configMaps = resourceAt("", "v1", "configmaps");
    const object = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { creationTimestamp: "2026-01-01T00:00:00Z", name: "m", uid: "u" },
    };

    const table = await showJson(storedAnswer(stored(object, 3), configMaps), {
      accept: TABLE,
      resource: configMaps,
    });

    expect(table).toMatchObject({
      columnDefinitions: [{ name: "Name" }, { name: "Created At", type: "date", format: "" }],
      rows: [{ cells: ["m", "2026-01-01T00:00:00Z"] }],
    });
  });

  test("show desired and available replicas of a scale", async () => {
    const object = {
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { creationTimestamp: "1970-01-01T00:00:00Z", name: "d", namespace: "a" },
      spec: { replicas: 3 },
      status: { replicas: 2 },
    } as ApiObject;

    const table = await showJson(
      { type: "object", code: 200, object },
      {
        accept: TABLE,
        target: "/apis/apps/v1/namespaces/a/deployments/d/scale",
        resource: resourceAt("apps", "v1", "deployments"),
      },
    );

    expect(table).toMatchObject({
      columnDefinitions: [{ name: "Name" }, { name: "Desired" }, { name: "Available" }, { name: "Age" }],
      rows: [{ cells: ["d", 3, 2, humanAge()], object: { metadata: { name: "d" } } }],
    });
  });
});

function humanAge(): string {
  return ageText({ metadata: { creationTimestamp: "1970-01-01T00:00:00Z" } }, loop.now());
}

describe("represent: watches", () => {
  const target = "/api/v1/pods?watch=true";

  test("JSON frames are lines; a deletion shows its own revision", async () => {
    const object = pod("p");
    const events: readonly WatchEventAnswer[] = [
      { type: "ADDED", stored: object },
      { type: "DELETED", stored: object, resourceVersion: "12345" },
      { type: "BOOKMARK", resourceVersion: "12346", isInitialEnd: true },
    ];
    const shown = async (answer: WatchAnswer): Promise<unknown[]> =>
      (await show(answer, { target }))
        .toString()
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown);

    const together = await shown(watchOf(events));
    const apart = await shown(watchOf(...events.map((event) => [event])));

    expect(together).toEqual(apart);
    expect(together).toEqual([
      { type: "ADDED", object: JSON.parse(object.json.toString()) as unknown },
      {
        type: "DELETED",
        object: { ...object.object, metadata: { ...object.object.metadata, resourceVersion: "12345" } },
      },
      {
        type: "BOOKMARK",
        object: {
          kind: "Pod",
          apiVersion: "v1",
          metadata: { resourceVersion: "12346", annotations: { "k8s.io/initial-events-end": "true" } },
        },
      },
    ]);
  });

  test("protobuf frames start with their length", async () => {
    const object = pod("p");
    const accept = `${PROTOBUF};stream=watch`;

    const { headers } = represent(watchOf(), ask({ target, accept }), tools);
    const bytes = await show(
      watchOf(
        [{ type: "DELETED", stored: object, resourceVersion: "9" }],
        [{ type: "BOOKMARK", resourceVersion: "10" }],
      ),
      { target, accept },
    );

    expect(headers.get("content-type")).toBe(accept);
    const first = frameObject(bytes);
    const second = frameObject(bytes.subarray(4 + bytes.readUInt32BE(0)));
    expect(decodeObject(pods.schema, readEnvelope(first)).metadata).toMatchObject({
      name: "p",
      resourceVersion: "9",
    });
    expect(decodeObject(pods.schema, readEnvelope(second)).metadata).toEqual({ resourceVersion: "10" });
  });

  test("tables have columns only in the first event", async () => {
    const answer = watchOf([
      { type: "ADDED", stored: pod("p") },
      { type: "DELETED", stored: pod("p"), resourceVersion: "50" },
    ]);

    const lines = (await show(answer, { target, accept: TABLE })).toString().trimEnd().split("\n");

    const [first, second] = lines.map((line) => JSON.parse(line) as { object: JsonObject });
    expect(first?.object["columnDefinitions"]).toHaveLength(pods.facts.columns?.length ?? 0);
    expect(second).toMatchObject({
      type: "DELETED",
      object: { columnDefinitions: null, metadata: { resourceVersion: "50" } },
    });
  });

  test("a watch of metadata has metadata only", async () => {
    const [line] = (
      await show(watchOf([{ type: "ADDED", stored: pod("p") }]), {
        target,
        accept: `application/json;${PARTIAL}`,
      })
    )
      .toString()
      .split("\n");

    expect(JSON.parse(line ?? "")).toMatchObject({
      type: "ADDED",
      object: { kind: "PartialObjectMetadata", metadata: { name: "p" } },
    });
  });

  test("errors are Status objects", async () => {
    const status = {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      code: 410,
      reason: "Expired",
      message: "old",
    } as const;

    const text = (await show(watchOf([{ type: "ERROR", status }]), { target })).toString();
    const bytes = await show(watchOf([{ type: "ERROR", status }]), { target, accept: PROTOBUF });

    expect(JSON.parse(text)).toEqual({ type: "ERROR", object: status });
    expect(
      decodeMessage(builtInStruct("meta.v1.Status"), readEnvelope(frameObject(bytes)).raw, {}),
    ).toMatchObject({ code: 410, message: "old" });
  });
});

/** The enveloped object of a frame: field 2 holds a raw extension, whose field 1 is the object. */
function frameObject(frame: Buffer): Uint8Array {
  const reader = new WireReader(frame.subarray(4, 4 + frame.readUInt32BE(0)));
  reader.small(reader.length);
  reader.bytes(reader.length);
  reader.small(reader.length);
  const inner = new WireReader(reader.bytes(reader.length));
  inner.small(inner.length);
  return inner.bytes(inner.length);
}

describe("the Accept header", () => {
  const answer = storedAnswer(pod("p"));
  const typeFor = (accept: string): string | undefined =>
    represent(answer, ask({ accept }), tools).headers.get("content-type");

  test.each([
    ["", "application/json"],
    ["*/*", "application/json"],
    ["application/*", "application/json"],
    ["application/cbor, application/json", "application/json"],
    ["application/vnd.kubernetes.protobuf,application/json", PROTOBUF],
    ["application/json;q=0.5, application/yaml", "application/yaml"],
    ["*/*, application/yaml", "application/yaml"],
    ["application/json;q=0", "application/json"],
    ["application/json;q=0, application/yaml", "application/yaml"],
    ["application/json;q=x, application/yaml;q=0.1", "application/yaml"],
    ["application/json;q= 1, application/yaml;q=0.1", "application/yaml"],
    ["application/json;q=, application/yaml", "application/json"],
    ["application/json;as=a=b, application/yaml", "application/json"],
    ["Application/JSON, application/yaml", "application/yaml"],
    ["application/json;AS=Table;G=meta.k8s.io;V=v1", "application/json"],
    ["application/json;as=Table;v=v9;g=meta.k8s.io, application/yaml", "application/yaml"],
    ["application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/yaml", "application/yaml"],
  ])("%j is answered with %s", (accept, type) => {
    expect(typeFor(accept)).toBe(type);
  });

  test("unknown types are refused", () => {
    expect(refusal(() => typeFor("application/cbor, APPLICATION/JSON"))).toEqual({
      reason: "NotAcceptable",
      message:
        "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf",
    });
  });

  test.each([
    [
      "application/yaml;as=Table;v=v1;g=meta.k8s.io",
      "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch",
    ],
    [
      "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io",
      "application/json, application/yaml, application/vnd.kubernetes.protobuf",
    ],
  ])("a watch in %s is refused", (accept, types) => {
    const asked = ask({ target: "/api/v1/pods?watch=1", accept });

    expect(refusal(() => represent(watchOf(), asked, tools))).toEqual({
      reason: "NotAcceptable",
      message: `only the following media types are accepted: ${types}`,
    });
  });

  test("a resource that is never stored has no table", () => {
    const asked = ask({ accept: TABLE, target: "/api/v1/namespaces/a/pods/p/eviction" });

    expect(refusal(() => represent(answer, asked, tools)).reason).toBe("NotAcceptable");
  });

  test("a list is refused as a single object, and the reverse", () => {
    const asked = ask({ target: "/api/v1/pods", accept: `application/json;${PARTIAL}` });

    expect(refusal(() => represent(listOf(), asked, tools)).message).toBe(
      "you requested PartialObjectMetadata, but the requested object is a list (*v1.PodList)",
    );
    expect(
      refusal(() => typeFor("application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io")).reason,
    ).toBe("NotAcceptable");
  });

  test("an unknown includeObject is refused", () => {
    const asked = ask({ accept: TABLE, target: "/api/v1/namespaces/a/pods/p?includeObject=All" });

    expect(refusal(() => represent(answer, asked, tools))).toEqual({
      reason: "BadRequest",
      message:
        "Unable to convert to Table as requested: includeObject: Invalid value: \"All\": must be 'Metadata', 'Object', 'None', or empty",
    });
  });
});

describe("errorResponse", () => {
  test("is the error's Status, in JSON when no type is acceptable", () => {
    const asked = ask({ accept: "text/html" });

    const { status, body, headers } = errorResponse(
      conflict({ group: "apps", resource: "deployments" }, "d"),
      asked,
    );

    expect(status).toBe(409);
    expect(headers.get("content-type")).toBe("application/json");
    expect(JSON.parse(Buffer.from(body as Uint8Array).toString())).toMatchObject({
      kind: "Status",
      reason: "Conflict",
      code: 409,
    });
  });

  test.each([
    ["application/json", { isLine: true, lines: 1 }],
    [`${TABLE}, application/json`, { isLine: true, lines: 1 }],
    [TABLE, { isLine: false, lines: 13 }],
    ["application/yaml;as=Table;v=v1;g=meta.k8s.io", { isLine: false, lines: 13 }],
  ])("is compact with a newline for clients that accept it: %s", (accept, { isLine, lines }) => {
    const asked = ask({ accept });

    const response = errorResponse(conflict({ group: "", resource: "pods" }, "p"), asked);

    const text = Buffer.from(response.body as Uint8Array).toString();
    expect(JSON.parse(text)).toMatchObject({ kind: "Status" });
    expect([response.isLine, text.split("\n").length]).toEqual([isLine, lines]);
  });

  test("is available as protobuf", () => {
    const { body } = errorResponse(conflict({ group: "", resource: "pods" }, "p"), ask({ accept: PROTOBUF }));

    const { kind, raw } = readEnvelope(body as Uint8Array);
    expect(kind).toBe("Status");
    expect(decodeMessage(builtInStruct("meta.v1.Status"), raw, {})).toMatchObject({
      code: 409,
      reason: "Conflict",
    });
  });

  test("has a retry-after header", () => {
    expect(errorResponse(tooManyRequests("later", 3), ask()).headers.get("retry-after")).toBe("3");
  });

  test("turns an unexpected error into an internal error with its message", () => {
    const { status, body } = errorResponse(new TypeError("oops"), ask());

    expect(status).toBe(500);
    expect(JSON.parse(Buffer.from(body as Uint8Array).toString())).toMatchObject({
      reason: "InternalError",
      message: "Internal error occurred: oops",
    });
  });
});

describe("FormCache", () => {
  test("stays within its bytes, and evicts unused forms first", () => {
    const cache = new FormCache(100_000);
    const objects = Array.from({ length: 40 }, (_, at) => pod(`p-${String(at)}`));
    const made: string[] = [];
    const ask1 = (object: StoredObject): Uint8Array =>
      cache.form(object, "f", ({ object: { metadata } }) => {
        made.push(metadata.name ?? "");
        return new Uint8Array(5000);
      });
    const [first] = objects;

    for (const object of objects) {
      ask1(object);
      if (first !== undefined) ask1(first);
    }

    expect(cache.bytes).toBeLessThanOrEqual(100_000);
    expect(made.filter((name) => name === "p-0")).toHaveLength(1);
  });
});
