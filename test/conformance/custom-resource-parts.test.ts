/** Parts of custom resources: status and spec, scale and owners, fields and table cells. */
import { describe, expect, test } from "vitest";
import { hasCondition, type ReplyBody, TestApi, until, listOf } from "../api-harness.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const GROUP = "/apis/example.com";
const merge = { type: "application/merge-patch+json" };
const apply = { type: "application/apply-patch+yaml" };
const table = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };

function schemaWith(color: object): object {
  return {
    type: "object",
    properties: {
      spec: {
        type: "object",
        "x-kubernetes-validations": [{ rule: "!has(self.size) || self.size != 'L'", message: "too large" }],
        properties: {
          color,
          replicas: { type: "integer" },
          size: { type: "string", enum: ["S", "L"] },
          parts: {
            type: "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["a", "b"],
            items: {
              type: "object",
              required: ["a", "b"],
              properties: { a: { type: "string" }, b: { type: "string" }, c: { type: "string" } },
            },
          },
          free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
          any: { "x-kubernetes-preserve-unknown-fields": true },
        },
      },
      status: {
        type: "object",
        properties: {
          replicas: { type: "integer" },
          phase: { type: "string", enum: ["On", "Off"] },
          note: { type: "string", default: "none" },
        },
      },
    },
  };
}

function version(name: string, schema: object): object {
  const paths = ["spec.free", "spec.free.list", "spec.free.nothing", "spec.color", "spec.nope"];
  return {
    name,
    served: true,
    storage: name === "v1",
    schema: { openAPIV3Schema: schema },
    subresources: {
      status: {},
      scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
    },
    additionalPrinterColumns: [
      ...paths.map((path) => ({ name: path, type: "string", jsonPath: `.${path}` })),
      { name: "when", type: "date", jsonPath: ".spec.free.when" },
    ],
  };
}

const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "things.example.com" },
  spec: {
    group: "example.com",
    scope: "Cluster",
    names: { plural: "things", kind: "Thing" },
    versions: [
      version("v1", schemaWith({ type: "string" })),
      version("v2", schemaWith({ type: "string", default: "red" })),
    ],
  },
};

/** Things whose status is there from the start. */
async function withStatusDefault(): Promise<TestApi> {
  const api = await TestApi.start();
  const status = { type: "object", default: {}, properties: { note: { type: "string", default: "none" } } };
  const spec = { type: "object", properties: { size: { type: "string" } } };
  const schema = { type: "object", properties: { note: { type: "string" }, spec, status } };
  const v1 = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } };
  const versions = [{ ...v1, subresources: { status: {} } }];
  await api.send("POST", DEFINITIONS, { ...definition, spec: { ...definition.spec, versions } });
  await until(api, `${DEFINITIONS}/things.example.com`, hasCondition("Established"));
  return api;
}

async function withThing(spec: object): Promise<TestApi> {
  const api = await TestApi.start();
  await api.send("POST", DEFINITIONS, definition);
  await until(api, `${DEFINITIONS}/things.example.com`, hasCondition("Established"));
  const thing = { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "a" }, spec };
  expect((await api.send("POST", `${GROUP}/v1/things`, thing)).code).toBe(201);
  return api;
}

describe("a status", () => {
  test.each([
    ["created", "POST", "", {}],
    ["applied", "PATCH", "/b?fieldManager=m", apply],
  ])("has its defaults in a dry run too, where it is %s", async (_, method, path, options) => {
    await using api = await withStatusDefault();
    const thing = { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "b" }, spec: {} };
    const url = `${GROUP}/v1/things${path}`;

    const dry = await api.send(method, `${url}${path === "" ? "?" : "&"}dryRun=All`, thing, options);
    const real = await api.send(method, url, thing, options);

    expect([dry.code, dry.body["status"]]).toEqual([201, { note: "none" }]);
    expect([real.code, real.body["status"]]).toEqual([201, { note: "none" }]);
  });

  test("that is written in another version brings none of its defaults into the spec", async () => {
    await using api = await withThing({ size: "S" });

    const status = { status: { phase: "On" } };
    const { code, body } = await api.send("PATCH", `${GROUP}/v2/things/a/status`, status, merge);

    expect(code).toBe(200);
    expect(body["spec"]).toEqual({ size: "S" });
    expect(body["status"]).toEqual({ note: "none", phase: "On" });
  });

  test("that is applied with other metadata meets no conflict and owns none of it", async () => {
    await using api = await withThing({ size: "S" });
    await api.send("PATCH", `${GROUP}/v1/things/a`, { metadata: { labels: { a: "1" } } }, merge);
    const metadata = { name: "a", labels: { a: "2", b: "3" }, finalizers: ["example.com/f"] };
    const applied = { apiVersion: "example.com/v1", kind: "Thing", metadata, status: { phase: "On" } };

    const path = `${GROUP}/v1/things/a/status?fieldManager=m`;
    const { code, body } = await api.send("PATCH", path, applied, apply);

    expect([code, body["metadata"]]).toEqual([200, expect.objectContaining({ labels: { a: "1" } })]);
    const owned = { manager: "m", fieldsV1: { "f:status": { "f:phase": {} } } };
    expect(body["metadata"]?.["managedFields"]).toContainEqual(expect.objectContaining(owned));
  });

  test("that is applied with another field of the root meets its owner, but not the owner of the spec", async () => {
    await using api = await withStatusDefault();
    const identity = { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "a" } };
    await api.send("POST", `${GROUP}/v1/things`, { ...identity, spec: { size: "S" }, note: "mine" });
    const applied = (fields: object) =>
      api.send("PATCH", `${GROUP}/v1/things/a/status?fieldManager=m`, { ...identity, ...fields }, apply);

    const refused = await applied({ note: "yours", status: { note: "on" } });
    const taken = await applied({ spec: { size: "L" }, status: { note: "on" } });

    expect([refused.code, refused.body["message"]]).toEqual([
      409,
      'Apply failed with 1 conflict: conflict with "test" using example.com/v1: .note',
    ]);
    expect([taken.code, taken.body]).toMatchObject([200, { spec: { size: "S" }, status: { note: "on" } }]);
  });

  test("that is applied by force with another field of the root takes the field over, but not its value", async () => {
    await using api = await withStatusDefault();
    const identity = { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "a" } };
    await api.send("POST", `${GROUP}/v1/things`, { ...identity, spec: { size: "S" }, note: "mine" });

    const path = `${GROUP}/v1/things/a/status?fieldManager=m&force=true`;
    const applied = { ...identity, note: "yours", status: { note: "on" } };
    const { body } = await api.send("PATCH", path, applied, apply);

    const owners = listOf<{ manager: string; fieldsV1: object }>(body["metadata"]?.["managedFields"]);
    expect(body).toMatchObject({ note: "mine", status: { note: "on" } });
    expect(owners.map(({ manager, fieldsV1 }) => [manager, Object.keys(fieldsV1)])).toEqual([
      ["m", ["f:note", "f:status"]],
      ["test", ["f:spec"]],
    ]);
  });
});

describe("a field without a type that keeps unknown fields", () => {
  test("is owned key by key, so that a forced apply keeps the keys of others", async () => {
    await using api = await TestApi.start();
    await api.send("POST", DEFINITIONS, definition);
    await until(api, `${DEFINITIONS}/things.example.com`, hasCondition("Established"));
    const send = (manager: string, any: object) =>
      api.send(
        "PATCH",
        `${GROUP}/v1/things/a?fieldManager=${manager}&force=true`,
        { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "a" }, spec: { any } },
        apply,
      );
    await send("m", { a: 1, b: { c: [1] } });

    const { body } = await send("n", { a: 2, d: "x" });

    expect(body["spec"]).toEqual({ any: { a: 2, b: { c: [1] }, d: "x" } });
    const owned = listOf(body["metadata"]?.["managedFields"]).map((entry) => entry["fieldsV1"]);
    expect(owned).toEqual([
      { "f:spec": { "f:any": { "f:b": { ".": {}, "f:c": {} } } } },
      { "f:spec": { "f:any": { "f:a": {}, "f:d": {} } } },
    ]);
  });
});

describe("a scale", () => {
  test("that is written in another version brings none of its defaults along", async () => {
    await using api = await withThing({ size: "S" });

    const { code } = await api.send("PATCH", `${GROUP}/v2/things/a/scale`, { spec: { replicas: 3 } }, merge);

    const { body } = await api.send("GET", `${GROUP}/v1/things/a`);
    expect([code, body["spec"]]).toEqual([200, { replicas: 3, size: "S" }]);
  });
});

test("an update of another object without a version is a conflict", async () => {
  await using api = await withThing({});

  const other = { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "a", uid: "b" } };
  const { code } = await api.send("PUT", `${GROUP}/v1/things/a`, other);

  expect(code).toBe(409);
});

describe("rules of a custom resource", () => {
  test("are not asked about one that has a value no field may have", async () => {
    await using api = await withThing({ size: "S" });

    const { code, body } = await api.send("PATCH", `${GROUP}/v1/things/a`, { spec: { size: "M" } }, merge);

    expect(code).toBe(422);
    expect(body["message"]).toMatch(/Unsupported value: "M".*some validation rules were not checked/);
  });
});

describe("a number of copies", () => {
  async function managersAfter(spec: object): Promise<readonly (ReplyBody | undefined)[]> {
    await using api = await withThing(spec);
    await api.send("PATCH", `${GROUP}/v1/things/a/scale`, { spec: { replicas: 3 } }, merge);
    const { body } = await api.send("GET", `${GROUP}/v1/things/a`);
    const entries = listOf(body["metadata"]?.["managedFields"]);
    return entries.map((entry) => entry["subresource"]);
  }

  test("belongs to the writer of the scale, if it had an owner before", async () => {
    expect(await managersAfter({ replicas: 1 })).toContain("scale");
  });

  test("stays without an owner after a write of the scale, if it had none before", async () => {
    expect(await managersAfter({})).not.toContain("scale");
  });
});

test("an apply is told which keys none of its items may be without", async () => {
  await using api = await withThing({});

  const config = { apiVersion: "example.com/v1", kind: "Thing", spec: { parts: [{ c: "d" }] } };
  const type = "application/apply-patch+yaml";
  const { body } = await api.send("PATCH", `${GROUP}/v1/things/a?fieldManager=m`, config, { type });

  expect(body["message"]).toMatch(
    /\.spec\.parts: element 0: associative list with keys has an element that omits all key fields \["a" "b"\] \(and doesn't have default values for any key fields\)$/,
  );
});

describe("a column of texts", () => {
  test("shows what has parts as JSON, and tells nothing from not there", async () => {
    const free = { list: ["a<b", 1, { c: null }], nothing: null, when: "" };
    await using api = await withThing({ color: "red", free });

    const { body } = await api.send("GET", `${GROUP}/v1/things/a`, undefined, table);

    const rows = listOf(body["rows"]);
    expect(rows[0]?.["cells"]).toEqual([
      "a",
      String.raw`{"list":["a\u003cb",1,{"c":null}],"nothing":null,"when":""}`,
      String.raw`["a\u003cb",1,{"c":null}]`,
      "<no value>",
      "red",
      null,
      "<unknown>",
    ]);
  });
});
