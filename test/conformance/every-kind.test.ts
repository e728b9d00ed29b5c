/** Every stored resource that is served behaves like every other. A kind without a case here fails the first test. */
import { describe, expect, test } from "vitest";
import { decodeObject, readEnvelope } from "../../src/api/protobuf/envelope.ts";
import { findKindSchema } from "../../src/api/schema/built-in-schema.ts";
import { apiVersionOf, isServedByDefault } from "../../src/api/schema/resource-facts.ts";
import type { ResourceFacts } from "../../src/api/schema/resource-facts.ts";
import { parseYaml } from "../../src/api/yaml/yaml.ts";
import type { ServedVersions } from "../../src/server/objects/registry.ts";
import { TestApi, text, watchEvents, listOf } from "../api-harness.ts";
import type { Reply, ReplyBody, TestApiOptions } from "../api-harness.ts";
import { casesOf, collectionOf, SERVED, STORED } from "./kind-cases.ts";
import type { KindCase, KindRow } from "./kind-cases.ts";
import { MINIMAL_OBJECTS } from "./minimal-objects.ts";

const NEVER_STORED = SERVED.filter(({ facts }) => facts.storage === undefined);

const PASSES: readonly (readonly [string, ServedVersions, readonly KindRow[]])[] = [
  ["by default", isServedByDefault, casesOf(STORED.filter(({ isDefault }) => isDefault))],
  ["with api/all=true", () => true, casesOf(STORED)],
];

const MERGE = "application/merge-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";
const JSON_PATCH = "application/json-patch+json";
const APPLY = "application/apply-patch+yaml";
const PARTIAL = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1";
const PROTOBUF = "application/vnd.kubernetes.protobuf";

async function started(isServed: ServedVersions, options: TestApiOptions = {}): Promise<TestApi> {
  const api = await TestApi.start(["default"], { isServed, ...options });
  // A periodic task of the server would create it.
  const cidr = { metadata: { name: "kubernetes" }, spec: { cidrs: ["10.96.0.0/12"] } };
  expect((await api.send("POST", "/apis/networking.k8s.io/v1/servicecidrs", cidr)).code).toBe(201);
  return api;
}

async function created(api: TestApi, { collection, object }: KindCase): Promise<ReplyBody> {
  const reply = await api.send("POST", `${collection}?fieldValidation=Strict`, object);
  expect(told(reply)).toEqual([201, undefined]);
  return reply.body;
}

/** Status code, and the reason of a failure. */
function told({ code, body }: Reply): readonly [number, unknown] {
  return [code, code < 300 ? undefined : body["message"]];
}

function itemsOf({ body }: Reply): readonly ReplyBody[] {
  return listOf(body["items"]);
}

function metadataOf(object: ReplyBody): ReplyBody {
  return object["metadata"] ?? {};
}

test("every stored resource has a minimal object", () => {
  const missing = STORED.map(({ facts }) => `${apiVersionOf(facts)} ${facts.kind}`).filter(
    (title) => MINIMAL_OBJECTS[title] === undefined,
  );

  expect(missing).toEqual([]);
});

describe.each(PASSES)("what is served %s", (_, isServed, cases) => {
  test.each(cases)("%s reads the same in JSON, YAML and protobuf", async (_title, kind) => {
    await using api = await started(isServed);
    await created(api, kind);

    const json = await api.send("GET", kind.path);
    const yaml = await api.send("GET", kind.path, undefined, { accept: "application/yaml" });
    const protobuf = await api.send("GET", kind.path, undefined, { accept: PROTOBUF });

    expect(told(json)).toEqual([200, undefined]);
    expect(json.body).toMatchObject({ apiVersion: kind.object["apiVersion"], kind: kind.facts.kind });
    expect(parseYaml(yaml.bytes).value).toEqual(json.body);
    expect(decoded(kind, protobuf.bytes)).toEqual(json.body);
  });

  test.each(cases)("%s is taken in YAML and protobuf as in JSON", async (_title, kind) => {
    await using api = await started(isServed);
    const first = await created(api, kind);
    const protobuf = await api.send("GET", kind.path, undefined, { accept: PROTOBUF });
    const yaml = await api.send("GET", kind.path, undefined, { accept: "application/yaml" });
    const before = api.store.view.revision;

    const again = await api.send("PUT", kind.path, protobuf.bytes, { type: PROTOBUF });
    const once = await api.send("PUT", kind.path, yaml.bytes, { type: "application/yaml" });

    expect([told(again), told(once)]).toEqual([
      [200, undefined],
      [200, undefined],
    ]);
    expect([again.body, once.body]).toEqual([first, first]);
    expect(api.store.view.revision).toBe(before);
  });

  test.each(cases)("%s is shown as a table row and as bare metadata", async (_title, kind) => {
    await using api = await started(isServed);
    const object = await created(api, kind);

    const row = await api.send("GET", kind.path, undefined, { accept: TABLE });
    const rows = await api.send("GET", kind.collection, undefined, { accept: TABLE });
    const partial = await api.send("GET", kind.path, undefined, { accept: PARTIAL });

    const columns = listOf(row.body["columnDefinitions"]);
    const [cells] = listOf(row.body["rows"]).map((found) => found["cells"]);
    expect(row.body).toMatchObject({ kind: "Table", apiVersion: "meta.k8s.io/v1" });
    const names = columns.map((column) => text(column["name"]));
    expect(names).toEqual(columnNames(kind.facts));
    expect([cells?.[names.indexOf("Name")], cells?.["length"]]).toEqual([kind.name, names.length]);
    expect(rows.body["columnDefinitions"]).toEqual(row.body["columnDefinitions"]);
    expect(partial.body).toEqual({
      kind: "PartialObjectMetadata",
      apiVersion: "meta.k8s.io/v1",
      metadata: metadataOf(object),
    });
  });

  test.each(cases)("%s takes a PUT and the three patches of its labels", async (_title, kind) => {
    await using api = await started(isServed);
    const first = await created(api, kind);
    const labelled = { ...first, metadata: { ...metadataOf(first), labels: { put: "1" } } };

    const put = await api.send("PUT", kind.path, labelled);
    const merged = await api.send("PATCH", kind.path, labels({ merge: "1" }), { type: MERGE });
    const strategic = await api.send("PATCH", kind.path, labels({ strategic: "1" }), { type: STRATEGIC });
    const operations = [{ op: "add", path: "/metadata/labels/json", value: "1" }];
    const patched = await api.send("PATCH", kind.path, operations, { type: JSON_PATCH });

    expect([put, merged, strategic, patched].map(told)).toEqual(Array(4).fill([200, undefined]));
    expect(metadataOf(patched.body)["labels"]).toMatchObject({
      put: "1",
      merge: "1",
      strategic: "1",
      json: "1",
    });
    expect(metadataOf(patched.body)["uid"]).toBe(metadataOf(first)["uid"]);
  });

  test.each(cases)("%s counts generations as its strategy says", async (_title, kind) => {
    await using api = await started(isServed);
    const first = await created(api, kind);

    const labelled = await api.send("PATCH", kind.path, labels({ a: "1" }), { type: MERGE });
    const changed =
      kind.change === undefined ? labelled : await api.send("PATCH", kind.path, kind.change, { type: MERGE });

    const hasGeneration = kind.facts.storage?.hasGeneration === true;
    // The labels of a slice name its Service.
    const relabelled = kind.facts.name === "endpointslices" ? 2 : 1;
    const after = kind.change === undefined ? relabelled : relabelled + 1;
    expect(told(changed)).toEqual([200, undefined]);
    expect([first, labelled.body, changed.body].map((object) => metadataOf(object)["generation"])).toEqual(
      hasGeneration ? [1, relabelled, after] : [undefined, undefined, undefined],
    );
    if (hasGeneration) expect(kind.change, "a kind with generations has a change").toBeDefined();
  });

  const withStatus = cases.filter(([, { facts }]) =>
    facts.subresources.some(({ name }) => name === "status"),
  );

  test.each(withStatus)("the status of %s is written by its subresource alone", async (_title, kind) => {
    // The server writes the status of definitions at any time.
    await using api = await started(isServed, { leavesDefinitions: true });
    const first = await created(api, kind);
    const status = { status: kind.status, metadata: { labels: { through: "status" } } };

    const onMain = await api.send("PATCH", kind.path, { status: kind.status }, { type: MERGE });
    const onStatus = await api.send("PATCH", `${kind.path}/status`, status, { type: MERGE });
    const read = await api.send("GET", `${kind.path}/status`);

    expect(kind.status, "a kind with a status has one in the table").toBeDefined();
    expect([told(onMain), told(onStatus)]).toEqual([
      [200, undefined],
      [200, undefined],
    ]);
    expect(onMain.body["status"]).toEqual(first["status"]);
    expect(onStatus.body["status"]).toMatchObject(kind.status ?? {});
    expect(onStatus.body["spec"]).toEqual(first["spec"]);
    expect(metadataOf(onStatus.body)["generation"]).toEqual(metadataOf(first)["generation"]);
    expect(read.body).toEqual(onStatus.body);
  });

  test.each(cases)("%s applied twice changes nothing the second time", async (_title, kind) => {
    await using api = await started(isServed);
    const target = `${kind.path}?fieldManager=me`;
    const config = { ...kind.object, metadata: { ...kind.object.metadata, labels: { a: "1" } } };

    const first = await api.send("PATCH", target, config, { type: APPLY });
    const before = api.store.view.revision;
    const second = await api.send("PATCH", target, config, { type: APPLY });

    expect([told(first), told(second)]).toEqual([
      [201, undefined],
      [200, undefined],
    ]);
    expect(second.body).toEqual(first.body);
    expect(api.store.view.revision).toBe(before);
    expect(metadataOf(first.body)["managedFields"]).toMatchObject([
      { manager: "me", operation: "Apply", apiVersion: kind.object["apiVersion"] },
    ]);
  });

  test.each(cases)("%s is watched from its creation to its deletion", async (_title, kind) => {
    await using api = await started(isServed);
    const { body: list } = await api.send("GET", kind.collection);
    const from = text(metadataOf(list)["resourceVersion"]);
    const ending = new AbortController();
    const watch = await api.raw("GET", `${kind.collection}?watch=1&resourceVersion=${from}`, undefined, {
      signal: ending.signal,
    });

    await created(api, kind);
    await api.send("PATCH", kind.path, labels({ a: "1" }), { type: MERGE });
    await removed(api, kind);

    const seen: string[] = [];
    for await (const { type, object } of watchEvents(watch)) {
      expect([object["kind"], metadataOf(object)["name"]]).toEqual([kind.facts.kind, kind.name]);
      if (seen.at(-1) !== type) seen.push(type);
      if (type === "DELETED") break;
    }
    ending.abort();
    expect(seen).toEqual(["ADDED", "MODIFIED", "DELETED"]);
  });

  test.each(cases)("%s is found by its selectors and by no others", async (_title, kind) => {
    await using api = await started(isServed);
    const labelled = { ...kind.object, metadata: { ...kind.object.metadata, labels: { a: "1" } } };
    await api.send("POST", kind.collection, labelled);
    const found = async (query: string): Promise<boolean> => {
      const reply = await api.send("GET", `${kind.collection}?${query}`);
      expect(told(reply)).toEqual([200, undefined]);
      return itemsOf(reply).some((item) => metadataOf(item)["name"] === (kind.name as unknown));
    };

    expect(await found("labelSelector=a%3D1")).toBe(true);
    expect(await found("labelSelector=a%21%3D1")).toBe(false);
    expect(await found("labelSelector=a+in+(1,2),!b")).toBe(true);
    expect(await found("labelSelector=b")).toBe(false);
    expect(await found(`fieldSelector=metadata.name%3D${encodeURIComponent(kind.name)}`)).toBe(true);
    expect(await found(`fieldSelector=metadata.name%21%3D${encodeURIComponent(kind.name)}`)).toBe(false);
    const unknown = await api.send("GET", `${kind.collection}?fieldSelector=spec.nonsense%3Dx`);
    expect([unknown.code, unknown.body["reason"]]).toEqual([400, "BadRequest"]);
  });

  const withFields = cases.filter(([, { facts }]) => facts.fieldSelectors.length > 0);

  test.each(withFields)("%s is found by each field of its own", async (_title, kind) => {
    await using api = await started(isServed);
    await created(api, kind);
    if (kind.status !== undefined) {
      await api.send("PATCH", `${kind.path}/status`, { status: kind.status }, { type: MERGE });
    }

    const outcomes: Record<string, unknown> = {};
    for (const [field, value] of Object.entries(kind.fields ?? {})) {
      const equal = await api.send("GET", `${kind.collection}?${fieldQuery(`${field}=${value}`)}`);
      const other = await api.send("GET", `${kind.collection}?${fieldQuery(`${field}!=${value}`)}`);
      outcomes[field] = [equal, other].map((reply) =>
        itemsOf(reply).some((item) => metadataOf(item)["name"] === (kind.name as unknown)),
      );
    }

    const fields = kind.facts.fieldSelectors.filter((field) => !UNFILLED_FIELDS.has(field));
    expect(outcomes).toEqual(Object.fromEntries(fields.map((field) => [field, [true, false]])));
  });

  const withCollections = cases.filter(([, { facts }]) => facts.verbs.includes("deletecollection"));

  test.each(withCollections)("%s goes with its collection", async (_title, kind) => {
    await using api = await started(isServed);
    const labelled = { ...kind.object, metadata: { ...kind.object.metadata, labels: { a: "1" } } };
    await api.send("POST", kind.collection, labelled);
    const options = { kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds: 0 };

    const missed = await api.send("DELETE", `${kind.collection}?labelSelector=b`, options);
    const kept = await api.send("GET", kind.path);
    const reply = await api.send("DELETE", `${kind.collection}?labelSelector=a`, options);

    expect([told(missed), itemsOf(missed).length, told(kept)]).toEqual([
      [200, undefined],
      0,
      [200, undefined],
    ]);
    expect([told(reply), itemsOf(reply).map((item) => metadataOf(item)["name"])]).toEqual([
      [200, undefined],
      [kind.name],
    ]);
    await withoutFinalizers(api, kind);
    expect((await api.send("GET", kind.path)).code).toBe(404);
  });
});

describe("what is never stored", () => {
  const creatable = NEVER_STORED.filter(({ facts }) => facts.verbs.includes("create"));

  test.each(creatable.map(({ facts }) => ({ kind: facts.kind, facts })))(
    "$kind is answered with 201, never as a table, and leaves nothing behind",
    async ({ kind, facts }) => {
      await using api = await started(isServedByDefault);
      await api.send("POST", "/api/v1/namespaces/default/pods", {
        metadata: { name: "web" },
        spec: { containers: [{ name: "app", image: "web:1" }] },
      });
      const keys = [...api.store.view.range("", "\u{ffff}")].length;
      const body = { apiVersion: apiVersionOf(facts), kind, ...VIRTUAL_BODIES[kind] };

      const refused = await api.send("POST", collectionOf(facts), body, { accept: TABLE });
      const reply = await api.send("POST", collectionOf(facts), body);
      const listed = await api.send("GET", collectionOf(facts));

      expect([refused.code, refused.body["reason"]]).toEqual([406, "NotAcceptable"]);
      expect(told(reply)).toEqual([201, undefined]);
      expect(reply.body).toMatchObject(VIRTUAL_ANSWERS[kind] ?? {});
      expect([listed.code, listed.body["reason"]]).toEqual([405, "MethodNotAllowed"]);
      expect([...api.store.view.range("", "\u{ffff}")].length).toBe(keys);
    },
  );

  test("component statuses are computed, and can only be read", async () => {
    await using api = await started(isServedByDefault);

    const list = await api.send("GET", "/api/v1/componentstatuses");
    const write = await api.send("POST", "/api/v1/componentstatuses", {});

    expect([list.code, list.body["kind"]]).toEqual([200, "ComponentStatusList"]);
    expect([write.code, write.body["reason"]]).toEqual([405, "MethodNotAllowed"]);
  });
});

/** Upstream accepts it in queries, but its values there are not documented. */
const UNFILLED_FIELDS: ReadonlySet<string> = new Set(["status.podIPs"]);

const VIRTUAL_BODIES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  Binding: { metadata: { name: "web" }, target: { kind: "Node", name: "node-1" } },
  TokenReview: { spec: { token: "nonsense" } },
  LocalSubjectAccessReview: {
    metadata: { namespace: "default" },
    spec: { user: "me", resourceAttributes: { namespace: "default", verb: "get", resource: "pods" } },
  },
  SelfSubjectAccessReview: { spec: { resourceAttributes: { verb: "get", resource: "pods" } } },
  SelfSubjectRulesReview: { spec: { namespace: "default" } },
  SubjectAccessReview: { spec: { user: "me", resourceAttributes: { verb: "get", resource: "pods" } } },
};

const VIRTUAL_ANSWERS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  Binding: { kind: "Status", status: "Success" },
  TokenReview: { kind: "TokenReview", status: {} },
  SelfSubjectReview: { kind: "SelfSubjectReview", status: { userInfo: { username: "admin" } } },
  SelfSubjectAccessReview: { status: { allowed: true } },
  SelfSubjectRulesReview: { status: { incomplete: false } },
};

function decoded({ object, facts }: KindCase, bytes: Uint8Array): unknown {
  const schema = findKindSchema(String(object["apiVersion"]), facts.kind);
  if (schema === undefined) throw new Error(`no schema for ${facts.kind}`);
  return decodeObject(schema, readEnvelope(bytes));
}

function labels(values: Readonly<Record<string, string>>): object {
  return { metadata: { labels: values } };
}

function fieldQuery(selector: string): string {
  return `fieldSelector=${encodeURIComponent(selector)}`;
}

/** Columns of kinds that the facts do not describe fully. */
const OWN_COLUMNS: ReadonlyMap<string, readonly string[]> = new Map([
  ["APIService", ["Name", "Service", "Available", "Age"]],
  [
    "CSIDriver",
    [
      "Name",
      "AttachRequired",
      "PodInfoOnMount",
      "StorageCapacity",
      "TokenRequests",
      "RequiresRepublish",
      "Modes",
      "Age",
    ],
  ],
]);

function columnNames({ kind, columns }: ResourceFacts): readonly string[] {
  return OWN_COLUMNS.get(kind) ?? columns?.map(({ name }) => name) ?? ["Name", "Created At"];
}

/** Some kinds are held by finalizers that the server or a controller sets. */
async function removed(api: TestApi, kind: KindCase): Promise<void> {
  await api.send("DELETE", `${kind.path}?gracePeriodSeconds=0`);
  await withoutFinalizers(api, kind);
}

async function withoutFinalizers(api: TestApi, kind: KindCase): Promise<void> {
  const { code, body } = await api.send("GET", kind.path);
  if (code === 404) return;
  expect(metadataOf(body)["deletionTimestamp"]).toBeDefined();
  if (kind.facts.kind === "Namespace") {
    const spec = { ...body["spec"], finalizers: [] };
    await api.send("PUT", `${kind.path}/finalize`, { ...body, spec });
  } else {
    await api.send("PATCH", kind.path, { metadata: { finalizers: null } }, { type: MERGE });
  }
}
