import { describe, expect, test } from "vitest";
import { readEnvelope } from "../../src/api/protobuf/envelope.ts";
import { hasCondition, TestApi, text, until, watchEvents, listOf } from "../api-harness.ts";
import type { Reply, ReplyBody } from "../api-harness.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const NAME = "widgets.example.com";
const SERVICE = "/apis/apiregistration.k8s.io/v1/apiservices/v1.example.com";
const PROTOBUF = "application/vnd.kubernetes.protobuf";
const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";

const schema = {
  type: "object",
  description: "Widget is a thing.",
  required: ["spec"],
  properties: {
    spec: {
      type: "object",
      description: "Desired state.",
      required: ["size"],
      properties: {
        size: { type: "integer", minimum: 1, maximum: 10, description: "How large it is." },
        color: { type: "string", enum: ["red", "green"], default: "red" },
        replicas: { type: "integer", default: 1 },
        cron: { type: "string", pattern: "^[0-9*]+$", maxLength: 5 },
        address: { type: "string", format: "ipv4" },
        port: { "x-kubernetes-int-or-string": true },
        note: { type: "string", nullable: true },
        tags: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
        parts: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: {
            type: "object",
            required: ["name"],
            properties: { name: { type: "string" }, count: { type: "integer" } },
          },
        },
        labels: { type: "object", additionalProperties: { type: "string" } },
        anything: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        serial: { type: "integer", format: "int64" },
      },
    },
    status: {
      type: "object",
      properties: {
        phase: { type: "string" },
        replicas: { type: "integer" },
        selector: { type: "string" },
      },
    },
  },
};

const version = {
  name: "v1",
  served: true,
  storage: true,
  schema: { openAPIV3Schema: schema },
  subresources: {
    status: {},
    scale: {
      specReplicasPath: ".spec.replicas",
      statusReplicasPath: ".status.replicas",
      labelSelectorPath: ".status.selector",
    },
  },
  additionalPrinterColumns: [
    { name: "Size", type: "integer", jsonPath: ".spec.size" },
    { name: "Phase", type: "string", jsonPath: ".status.phase", priority: 1 },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
  selectableFields: [{ jsonPath: ".spec.color" }],
};

function definition(change: object = {}): object {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: NAME },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget", shortNames: ["wd"], categories: ["all"] },
      versions: [version],
      ...change,
    },
  };
}

function widget(spec: object = { size: 3 }, metadata: object = {}): object {
  return { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "a", ...metadata }, spec };
}

async function withWidgets(change: object = {}): Promise<TestApi> {
  const api = await TestApi.start();
  const made = await api.send("POST", DEFINITIONS, definition(change));
  if (made.code !== 201) throw new Error(JSON.stringify(made.body));
  await until(api, `${DEFINITIONS}/${NAME}`, hasCondition("Established"));
  return api;
}

function messages({ body }: Reply): readonly string[] {
  const causes = listOf<{ field: string; message: string }>(body["details"]?.["causes"]);
  return causes.map(({ field, message }) => `${field}: ${message}`);
}

describe("a custom resource", () => {
  test("is served from the moment on in which its definition is established", async () => {
    await using api = await withWidgets();

    const created = await api.send("POST", WIDGETS, widget());

    expect(created).toMatchObject({
      code: 201,
      body: {
        metadata: { name: "a", namespace: "default", generation: 1 },
        spec: { size: 3, color: "red", replicas: 1 },
      },
    });
    expect((await api.send("GET", DEFINITIONS)).body["items"]).toMatchObject([
      {
        spec: { names: { singular: "widget", listKind: "WidgetList" } },
        status: {
          acceptedNames: { plural: "widgets", shortNames: ["wd"] },
          storedVersions: ["v1"],
          conditions: [
            { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" },
            {
              type: "Established",
              status: "True",
              reason: "InitialNamesAccepted",
              message: "the initial names have been accepted",
            },
          ],
        },
      },
    ]);
    expect(await api.send("GET", "/apis/example.com/v2/widgets")).toMatchObject({ code: 404 });
  });

  test("lies in the store under its group, in the storage version", async () => {
    await using api = await withWidgets();
    await api.send("POST", WIDGETS, widget());

    const entry = api.store.view.get("/registry/example.com/widgets/default/a");

    expect(JSON.parse(Buffer.from(entry?.value ?? []).toString())).toMatchObject({
      apiVersion: "example.com/v1",
      kind: "Widget",
    });
  });

  test.each([
    [
      { size: "x" },
      ['spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"'],
    ],
    [{}, ["spec.size: Required value"]],
    [{ size: 0 }, ["spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"]],
    [{ size: 11 }, ["spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10"]],
    [{ size: 1, color: "blue" }, ['spec.color: Unsupported value: "blue": supported values: "red", "green"']],
    [{ size: 1, cron: "a" }, [`spec.cron: Invalid value: "a": spec.cron in body should match '^[0-9*]+$'`]],
    [{ size: 1, cron: "123456" }, ["spec.cron: Too long: may not be more than 5 bytes"]],
    [
      { size: 1, address: "1.2.3" },
      ['spec.address: Invalid value: "1.2.3": spec.address in body must be of type ipv4: "1.2.3"'],
    ],
    [
      { size: 1, port: true },
      ['spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"'],
    ],
    [{ size: 1, tags: ["a", "b", "a"] }, ['spec.tags[2]: Duplicate value: "a"']],
    [{ size: 1, parts: [{ name: "a" }, { name: "a" }] }, ['spec.parts[1]: Duplicate value: {"name":"a"}']],
    [{ size: 1, parts: [{ count: 1 }] }, ["spec.parts[0].name: Required value"]],
    [
      { size: 1, labels: { x: 1 } },
      ['spec.labels.x: Invalid value: "integer": spec.labels.x in body must be of type string: "integer"'],
    ],
  ])("is held to its schema: %j", async (spec, problems) => {
    await using api = await withWidgets();

    const refused = await api.send("POST", WIDGETS, widget(spec));

    expect(refused).toMatchObject({ code: 422, body: { reason: "Invalid" } });
    expect(messages(refused)).toEqual(problems);
  });

  test("loses what its schema does not name, and keeps what it may", async () => {
    await using api = await withWidgets();
    const spec = { size: 1, extra: 1, note: null, serial: 1, anything: { b: { c: 1 }, a: 2 }, cron: null };

    const created = await api.send("POST", WIDGETS, { ...widget(spec), other: {} });
    const strict = await api.send("POST", `${WIDGETS}?fieldValidation=Strict`, widget(spec, { name: "b" }));

    expect(created.body["spec"]).toEqual({
      anything: { a: 2, b: { c: 1 } },
      color: "red",
      note: null,
      replicas: 1,
      serial: 1,
      size: 1,
    });
    expect(created.headers.get("warning")).toContain('unknown field \\"spec.extra\\"');
    expect(strict).toMatchObject({
      code: 400,
      body: {
        message: expect.stringContaining('strict decoding error: unknown field "spec.extra"') as string,
      },
    });
  });

  test("keeps integers beyond 2^53 exact, and keys that every object has", async () => {
    await using api = await withWidgets();
    const sent =
      '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},' +
      '"spec":{"size":1,"serial":9007199254740993,"anything":{"__proto__":{"x":1},"constructor":2}}}';

    const created = await api.send("POST", WIDGETS, Buffer.from(sent));

    expect(created.bytes.toString()).toContain('"serial":9007199254740993');
    expect(created.bytes.toString()).toContain('"anything":{"__proto__":{"x":1},"constructor":2}');
  });

  test("counts generations, and keeps status and the rest apart", async () => {
    await using api = await withWidgets();
    await api.send("POST", WIDGETS, { ...widget(), status: { phase: "Early" } });
    const path = `${WIDGETS}/a`;
    const merge = { type: "application/merge-patch+json" };

    const status = await api.send(
      "PATCH",
      `${path}/status`,
      { spec: { size: 9 }, status: { phase: "Up" } },
      merge,
    );
    const spec = await api.send("PATCH", path, { spec: { size: 4 }, status: { phase: "Down" } }, merge);
    const labels = await api.send("PATCH", path, { metadata: { labels: { a: "b" } } }, merge);

    expect(status.body).toMatchObject({
      metadata: { generation: 1 },
      spec: { size: 3 },
      status: { phase: "Up" },
    });
    expect(spec.body).toMatchObject({
      metadata: { generation: 2 },
      spec: { size: 4 },
      status: { phase: "Up" },
    });
    expect(labels.body["metadata"]).toMatchObject({ generation: 2, labels: { a: "b" } });
  });

  test.each([
    ["one", `${WIDGETS}/a`, "PartialObjectMetadata"],
    ["all", WIDGETS, "PartialObjectMetadataList"],
  ])("shows its metadata in protobuf too: %s", async (_, target, kind) => {
    await using api = await withWidgets();
    await api.send("POST", WIDGETS, widget());
    const accept = `${PROTOBUF};as=${kind};g=meta.k8s.io;v=v1,application/json;as=${kind};g=meta.k8s.io;v=v1`;

    const { headers, bytes } = await api.send("GET", target, undefined, { accept });

    expect(headers.get("content-type")).toBe(PROTOBUF);
    expect(readEnvelope(bytes)).toMatchObject({ apiVersion: "meta.k8s.io/v1", kind });
  });

  test("tells who watches its metadata in protobuf", async () => {
    await using api = await withWidgets();
    await api.send("POST", WIDGETS, widget());
    const accept = `${PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`;
    const ending = new AbortController();

    const watching = { accept, signal: ending.signal };
    const { status, headers } = await api.raw("GET", `${WIDGETS}?watch=1`, undefined, watching);
    ending.abort();

    expect([status, headers.get("content-type")]).toEqual([200, `${PROTOBUF};stream=watch`]);
  });

  test("is not replaced without its resourceVersion, nor patched by rules of Go types, nor read as protobuf", async () => {
    await using api = await withWidgets();
    await api.send("POST", WIDGETS, widget());
    const strategic = { type: "application/strategic-merge-patch+json" };

    const put = await api.send("PUT", `${WIDGETS}/a`, widget());
    const patched = await api.send("PATCH", `${WIDGETS}/a`, {}, strategic);

    expect(put).toMatchObject({ code: 422 });
    expect(messages(put)).toEqual([
      "metadata.resourceVersion: Invalid value: 0: must be specified for an update",
    ]);
    expect(patched).toMatchObject({ code: 415 });
    expect(await api.send("GET", `${WIDGETS}/a`, undefined, { accept: PROTOBUF })).toMatchObject({
      code: 406,
    });
    expect(await api.send("POST", WIDGETS, Buffer.from("k8s\0"), { type: PROTOBUF })).toMatchObject({
      code: 415,
    });
  });

  test("is scaled where its definition says", async () => {
    await using api = await withWidgets();
    await api.send("POST", WIDGETS, widget({ size: 1, replicas: 2 }));
    const merge = { type: "application/merge-patch+json" };
    await api.send("PATCH", `${WIDGETS}/a/status`, { status: { replicas: 1, selector: "app=a" } }, merge);

    const scale = await api.send("GET", `${WIDGETS}/a/scale`);
    const scaled = await api.send("PATCH", `${WIDGETS}/a/scale`, { spec: { replicas: 5 } }, merge);

    expect(scale.body).toMatchObject({
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      spec: { replicas: 2 },
      status: { replicas: 1, selector: "app=a" },
    });
    expect(scaled.body).toMatchObject({ spec: { replicas: 5 } });
    expect((await api.send("GET", `${WIDGETS}/a`)).body).toMatchObject({
      metadata: { generation: 2 },
      spec: { replicas: 5 },
    });
  });

  test("is applied by the keys of its lists", async () => {
    await using api = await withWidgets();
    const apply = { type: "application/apply-patch+yaml" };
    const mine = widget({ size: 1, parts: [{ name: "x", count: 1 }], tags: ["a"] });
    const yours = widget({ parts: [{ name: "y", count: 2 }], tags: ["b"] });

    await api.send("PATCH", `${WIDGETS}/a?fieldManager=me`, mine, apply);
    const both = await api.send("PATCH", `${WIDGETS}/a?fieldManager=you`, yours, apply);
    const conflict = await api.send("PATCH", `${WIDGETS}/a?fieldManager=you`, widget({ size: 2 }), apply);

    expect(both.body["spec"]).toMatchObject({
      size: 1,
      parts: [
        { name: "x", count: 1 },
        { name: "y", count: 2 },
      ],
      tags: ["a", "b"],
    });
    expect(conflict).toMatchObject({ code: 409 });
  });

  test.each(["Strict", "Warn", "Ignore"])(
    "is not applied with fields that its schema does not have, %s or not",
    async (validation) => {
      await using api = await withWidgets();
      const apply = { type: "application/apply-patch+yaml" };
      const target = `${WIDGETS}/a?fieldManager=me&fieldValidation=${validation}`;

      const outside = await api.send("PATCH", target, { ...widget(), other: 1 }, apply);
      const within = await api.send("PATCH", target, widget({ size: 1 }, { name: "a", other: 1 }), apply);

      expect(outside.code).toBe(400);
      expect(text(outside.body["message"])).toContain("): .other: field not declared in schema");
      expect(text(within.body["message"])).toContain("): .metadata.other: field not declared in schema");
    },
  );

  test("has the columns of its definition in tables", async () => {
    await using api = await withWidgets();
    await api.send("POST", WIDGETS, widget());

    const table = await api.send("GET", WIDGETS, undefined, {
      accept: "application/json;as=Table;g=meta.k8s.io;v=v1",
    });

    expect(table.body["columnDefinitions"]).toMatchObject([
      { name: "Name", type: "string", format: "name" },
      { name: "Size", type: "integer" },
      { name: "Phase", priority: 1 },
      { name: "Age", type: "date" },
    ]);
    expect(table.body["rows"]).toMatchObject([
      { cells: ["a", 3, null, expect.stringMatching(/^\d+s$/) as string] },
    ]);
  });

  test("is found by selectors, its own fields too", async () => {
    await using api = await withWidgets();
    await api.send("POST", WIDGETS, widget({ size: 1 }, { name: "a", labels: { x: "1" } }));
    await api.send("POST", WIDGETS, widget({ size: 1, color: "green" }, { name: "b" }));

    const names = async (query: string): Promise<readonly string[]> => {
      const { body } = await api.send("GET", `/apis/example.com/v1/widgets?${query}`);
      return listOf<{ metadata: { name: string } }>(body["items"]).map(({ metadata }) => metadata.name);
    };

    expect(await names("")).toEqual(["a", "b"]);
    expect(await names("labelSelector=x%3D1")).toEqual(["a"]);
    expect(await names("fieldSelector=spec.color%3Dgreen")).toEqual(["b"]);
    expect(await api.send("GET", `${WIDGETS}?fieldSelector=spec.size%3D1`)).toMatchObject({ code: 400 });
  });

  test("is changed by operations, and deleted with others of its kind", async () => {
    await using api = await withWidgets();
    await api.send("POST", WIDGETS, widget({ size: 1 }, { name: "a", labels: { x: "1" } }));
    await api.send("POST", WIDGETS, widget({ size: 1 }, { name: "b" }));
    const operations = [
      { op: "test", path: "/spec/size", value: 1 },
      { op: "add", path: "/spec/parts", value: [{ name: "p" }] },
      { op: "remove", path: "/spec/color" },
    ];

    const patched = await api.send("PATCH", `${WIDGETS}/a`, operations, {
      type: "application/json-patch+json",
    });
    await api.send("DELETE", `${WIDGETS}?labelSelector=x%3D1`);

    expect(patched.body["spec"]).toEqual({ size: 1, color: "red", replicas: 1, parts: [{ name: "p" }] });
    expect((await api.send("GET", WIDGETS)).body["items"]).toMatchObject([{ metadata: { name: "b" } }]);
  });

  test("comes and goes as YAML too", async () => {
    await using api = await withWidgets();
    const yaml = "application/yaml";
    const sent = Buffer.from(
      "apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: a\nspec:\n  size: 2\n",
    );

    await api.send("POST", WIDGETS, sent, { type: yaml });
    const read = await api.send("GET", `${WIDGETS}/a`, undefined, { accept: yaml });

    expect(read.bytes.toString()).toContain("spec:\n  color: red\n  replicas: 1\n  size: 2\n");
  });

  test("may be as deep as bodies may be", async () => {
    let deep: object = { type: "string" };
    let value: unknown = "x";
    for (let level = 0; level < 120; level++) {
      deep = { type: "object", properties: { a: deep } };
      value = { a: value };
    }
    const openAPIV3Schema = { type: "object", properties: { spec: deep } };
    await using api = await withWidgets({
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
    });

    const created = await api.send("POST", WIDGETS, widget(value as object));

    expect(created).toMatchObject({ code: 201 });
    expect(created.body["spec"]).toEqual(value);
  });

  test("shows defaults that its definition got later, and not what it knows no longer", async () => {
    await using api = await withWidgets();
    await api.send("POST", WIDGETS, widget({ size: 1, tags: ["a"] }));
    const { tags: _, ...properties } = schema.properties.spec.properties;
    const spec = {
      ...schema.properties.spec,
      properties: { ...properties, weight: { type: "integer", default: 7 } },
    };
    const openAPIV3Schema = { ...schema, properties: { ...schema.properties, spec } };
    const versions = [{ ...version, schema: { openAPIV3Schema } }];
    const live = await api.send("GET", `${DEFINITIONS}/${NAME}`);

    await api.send("PUT", `${DEFINITIONS}/${NAME}`, {
      ...live.body,
      spec: { ...live.body["spec"], versions },
    });

    expect((await api.send("GET", `${WIDGETS}/a`)).body["spec"]).toEqual({
      size: 1,
      color: "red",
      replicas: 1,
      weight: 7,
    });
  });

  test("may keep what was valid before, in a place that does not change", async () => {
    await using api = await withWidgets();
    await api.send("POST", WIDGETS, widget({ size: 3 }));
    const merge = { type: "application/merge-patch+json" };
    const size = { ...schema.properties.spec.properties.size, maximum: 2 };
    const spec = { ...schema.properties.spec, properties: { ...schema.properties.spec.properties, size } };
    const openAPIV3Schema = { ...schema, properties: { ...schema.properties, spec } };
    const versions = [{ ...version, schema: { openAPIV3Schema } }];
    await api.send("PATCH", `${DEFINITIONS}/${NAME}`, { spec: { versions } }, merge);

    const kept = await api.send("PATCH", `${WIDGETS}/a`, { spec: { color: "green" } }, merge);
    const changed = await api.send("PATCH", `${WIDGETS}/a`, { spec: { size: 4 } }, merge);

    expect(kept).toMatchObject({ code: 200, body: { spec: { size: 3, color: "green" } } });
    expect(changed).toMatchObject({ code: 422 });
  });
});

describe("versions of a custom resource", () => {
  const v1 = { ...version, storage: false };
  const v2 = { ...version, name: "v2", storage: true };
  const old = { ...version, name: "v1beta1", storage: false, deprecated: true };

  test("show the same objects, each in its own version", async () => {
    await using api = await withWidgets({ versions: [v1, v2, old] });
    await api.send("POST", WIDGETS, widget());

    const other = await api.send("GET", "/apis/example.com/v2/namespaces/default/widgets/a");
    const deprecated = await api.send("GET", "/apis/example.com/v1beta1/namespaces/default/widgets/a");
    const stored = api.store.view.get("/registry/example.com/widgets/default/a");

    expect(other.body).toMatchObject({ apiVersion: "example.com/v2", spec: { size: 3 } });
    expect(deprecated.headers.get("warning")).toContain("example.com/v1beta1 Widget is deprecated");
    expect(Buffer.from(stored?.value ?? []).toString()).toContain('"apiVersion":"example.com/v2"');
  });

  test("are listed by what they promise", async () => {
    await using api = await withWidgets({ versions: [old, v1, v2] });

    expect((await api.send("GET", "/apis/example.com")).body).toMatchObject({
      preferredVersion: { version: "v2" },
      versions: [{ version: "v2" }, { version: "v1" }, { version: "v1beta1" }],
    });
  });
});

describe("versions that only a webhook converts", () => {
  test("are served as they lie there, and in no other way", async () => {
    const clientConfig = { url: "https://example.com/convert" };
    const conversion = { strategy: "Webhook", webhook: { clientConfig, conversionReviewVersions: ["v1"] } };
    const versions = [version, { ...version, name: "v2", storage: false }];
    await using api = await withWidgets({ versions, conversion });

    const created = await api.send("POST", WIDGETS, widget());
    const other = await api.send("GET", "/apis/example.com/v2/namespaces/default/widgets/a");

    expect(created).toMatchObject({ code: 201 });
    expect(other).toMatchObject({ code: 500, body: { reason: "InternalError" } });
    expect(text(other.body["message"])).toContain(
      "conversion webhook for example.com/v1, Kind=Widget failed",
    );
  });
});

describe("a definition", () => {
  test("is told to clients at once, with its names", async () => {
    await using api = await withWidgets();
    const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

    const { body } = await api.send("GET", "/apis/example.com/v1");
    const all = await api.send("GET", "/apis", undefined, { accept });

    expect(body["resources"]).toMatchObject([
      {
        name: "widgets",
        singularName: "widget",
        namespaced: true,
        kind: "Widget",
        shortNames: ["wd"],
        categories: ["all"],
      },
      { name: "widgets/status", kind: "Widget" },
      { name: "widgets/scale", group: "autoscaling", version: "v1", kind: "Scale" },
    ]);
    expect(JSON.stringify(all.body)).toContain('"resource":"widgets"');
    await until(api, SERVICE, (object) => object !== undefined);
    expect(await api.send("GET", SERVICE)).toMatchObject({
      code: 200,
      body: {
        spec: { group: "example.com", version: "v1", groupPriorityMinimum: 1000, versionPriority: 100 },
      },
    });
  });

  test("is published with its descriptions", async () => {
    await using api = await withWidgets();

    const index = await api.send("GET", "/openapi/v3");
    const { body } = await api.send("GET", "/openapi/v3/apis/example.com/v1");
    const v2 = await api.send("GET", "/openapi/v2");

    const schemas = body["components"]?.["schemas"];
    expect(Object.keys(index.body["paths"] ?? {})).toContain("apis/example.com/v1");
    expect(schemas?.["com.example.v1.Widget"]).toMatchObject({
      description: "Widget is a thing.",
      properties: {
        metadata: {},
        spec: { properties: { size: { description: "How large it is.", type: "integer" } } },
      },
      "x-kubernetes-group-version-kind": [{ group: "example.com", version: "v1", kind: "Widget" }],
    });
    expect(schemas?.["com.example.v1.WidgetList"]).toMatchObject({ required: ["items"] });
    expect(body["paths"]).toHaveProperty(["/apis/example.com/v1/namespaces/{namespace}/widgets"]);
    expect(v2.body["definitions"]).toHaveProperty(["com.example.v1.Widget"]);
    expect(JSON.stringify(body["paths"])).not.toMatch(/protobuf|strategic/);
  });

  test("is published with integers of 64 bits", async () => {
    const size = { type: "integer", format: "int64", default: "MOST", maximum: "MOST" };
    const spec = { type: "object", properties: { size } };
    const schema = { openAPIV3Schema: { type: "object", properties: { spec } } };
    const plain = definition({ versions: [{ name: "v1", served: true, storage: true, schema }] });
    const text = JSON.stringify(plain).replaceAll('"MOST"', "9223372036854775807");
    await using api = await TestApi.start();
    await api.send("POST", DEFINITIONS, Buffer.from(text));
    await until(api, `${DEFINITIONS}/${NAME}`, hasCondition("Established"));

    const v3 = await api.send("GET", "/openapi/v3/apis/example.com/v1");
    const v2 = await api.send("GET", "/openapi/v2");

    expect([v3.code, v2.code]).toEqual([200, 200]);
    expect(v3.bytes.toString()).toContain('"default":9223372036854775807');
  });

  test("whose names are taken is not established", async () => {
    await using api = await withWidgets();
    const names = { plural: "gadgets", singular: "gadget", kind: "Widget", listKind: "GadgetList" };
    const other = { ...(definition({ names }) as ReplyBody), metadata: { name: "gadgets.example.com" } };

    await api.send("POST", DEFINITIONS, other);
    await until(api, `${DEFINITIONS}/gadgets.example.com`, hasCondition("NamesAccepted", "False"));

    const { body } = await api.send("GET", `${DEFINITIONS}/gadgets.example.com`);
    expect(body["status"]?.["conditions"]).toMatchObject([
      { type: "NamesAccepted", reason: "KindConflict", message: '"Widget" is already in use' },
      { type: "Established", status: "False", reason: "NotAccepted" },
    ]);
    expect(await api.send("GET", "/apis/example.com/v1/gadgets")).toMatchObject({ code: 404 });
  });

  test("cannot take the place of a built-in kind", async () => {
    await using api = await TestApi.start();
    const name = "apiservices.apiregistration.k8s.io";
    const names = { plural: "apiservices", kind: "Mine" };
    const mine = definition({ group: "apiregistration.k8s.io", names }) as ReplyBody;
    const annotations = { "api-approved.kubernetes.io": "unapproved, for a test" };
    const kept = "/apis/apiregistration.k8s.io/v1/apiservices/v1.example.org";
    const spec = { group: "example.org", version: "v1", groupPriorityMinimum: 1, versionPriority: 1 };
    await api.send("POST", "/apis/apiregistration.k8s.io/v1/apiservices", {
      metadata: { name: "v1.example.org" },
      spec,
    });

    await api.send("POST", DEFINITIONS, { ...mine, metadata: { name, annotations } });
    await until(api, `${DEFINITIONS}/${name}`, hasCondition("NamesAccepted", "False"));
    const { body } = await api.send("GET", `${DEFINITIONS}/${name}`);
    await api.send("DELETE", `${DEFINITIONS}/${name}`);
    await until(api, `${DEFINITIONS}/${name}`, (object) => object === undefined);

    expect(body["status"]?.["conditions"]).toMatchObject([
      { reason: "PluralConflict", message: '"apiservices" is already in use' },
      { type: "Established", status: "False" },
      { type: "KubernetesAPIApprovalPolicyConformant", status: "False", reason: "UnapprovedAnnotation" },
    ]);
    expect(await api.send("GET", kept)).toMatchObject({ code: 200 });
  });

  test("gets names that others give up", async () => {
    await using api = await withWidgets();
    const names = { plural: "gadgets", kind: "Gadget", shortNames: ["wd"] };
    const gadgets = { ...(definition({ names }) as ReplyBody), metadata: { name: "gadgets.example.com" } };
    await api.send("POST", DEFINITIONS, gadgets);
    await until(api, `${DEFINITIONS}/gadgets.example.com`, hasCondition("NamesAccepted", "False"));

    await api.send("DELETE", `${DEFINITIONS}/${NAME}`);
    await until(api, `${DEFINITIONS}/gadgets.example.com`, hasCondition("Established"));

    expect((await api.send("GET", "/apis/example.com/v1")).body["resources"]).toMatchObject([
      { name: "gadgets", shortNames: ["wd"] },
      { name: "gadgets/status" },
      { name: "gadgets/scale" },
    ]);
  });

  test("registers its versions again after a user removes them", async () => {
    await using api = await withWidgets();
    await until(api, SERVICE, (object) => object !== undefined);
    const uid = text((await api.send("GET", SERVICE)).body["metadata"]?.["uid"]);

    await api.send("DELETE", SERVICE);
    await until(api, SERVICE, (object) => object !== undefined && text(object["metadata"]?.["uid"]) !== uid);

    expect(await api.send("GET", SERVICE)).toMatchObject({ code: 200 });
  });

  test("that changes ends the watches of its kind, which then go on where they were", async () => {
    await using api = await withWidgets();
    const { body } = await api.send("GET", WIDGETS);
    const after = `resourceVersion=${text(body["metadata"]?.["resourceVersion"])}`;
    const watch = watchEvents(await api.raw("GET", `${WIDGETS}?watch=1&${after}`));
    const first = watch.next();
    const merge = { type: "application/merge-patch+json" };

    const versions = [{ ...version, additionalPrinterColumns: [] }];
    await api.send("PATCH", `${DEFINITIONS}/${NAME}`, { spec: { versions } }, merge);
    const ended = await first;
    await api.send("POST", WIDGETS, widget());
    const again = watchEvents(await api.raw("GET", `${WIDGETS}?watch=1&${after}`));

    expect(ended.done).toBe(true);
    expect((await again.next()).value).toMatchObject({ type: "ADDED", object: { metadata: { name: "a" } } });
    await again.return(undefined);
  });

  test("that goes takes its objects, its watches and its names with it", async () => {
    await using api = await withWidgets();
    await api.send("POST", WIDGETS, widget());
    const watch = watchEvents(await api.raw("GET", `${WIDGETS}?watch=1`));
    await watch.next();

    const deleted = await api.send("DELETE", `${DEFINITIONS}/${NAME}`);
    await until(api, `${DEFINITIONS}/${NAME}`, (object) => object === undefined);

    expect(deleted.body["metadata"]).toMatchObject({
      finalizers: ["customresourcecleanup.apiextensions.k8s.io"],
    });
    const events: string[] = [];
    for await (const { type } of watch) events.push(type);
    expect(events).toEqual(["DELETED"]);
    expect(await api.send("GET", WIDGETS)).toMatchObject({ code: 404 });
    expect(api.store.view.count("/registry/example.com/", "/registry/example.com0")).toBe(0);
    await api.send("POST", DEFINITIONS, definition());
    await until(api, `${DEFINITIONS}/${NAME}`, hasCondition("Established"));
    expect((await api.send("GET", WIDGETS)).body["items"]).toEqual([]);
  });

  test("waits for objects that something holds, and takes no new ones", async () => {
    await using api = await withWidgets();
    await api.send("POST", WIDGETS, widget({ size: 1 }, { finalizers: ["anything"] }));

    await api.send("DELETE", `${DEFINITIONS}/${NAME}`);
    await until(api, `${DEFINITIONS}/${NAME}`, (object) =>
      JSON.stringify(object ?? {}).includes("InstanceDeletionInProgress"),
    );
    const refused = await api.send("POST", WIDGETS, widget({ size: 1 }, { name: "b" }));
    const merge = { type: "application/merge-patch+json" };
    await api.send("PATCH", `${WIDGETS}/a`, { metadata: { finalizers: [] } }, merge);
    await until(api, `${DEFINITIONS}/${NAME}`, (object) => object === undefined);

    expect(refused).toMatchObject({ code: 405 });
    expect(text(refused.body["message"])).toBe(
      "create not allowed while custom resource definition is terminating",
    );
  });

  test.each([
    [
      { type: "object", properties: { spec: { properties: { a: { type: "string" } } } } },
      "spec.validation.openAPIV3Schema.properties[spec].type: Required value: must not be empty for specified object fields",
    ],
    [
      { type: "object", properties: { spec: { type: "array" } } },
      "spec.validation.openAPIV3Schema.properties[spec].items: Required value: must be specified",
    ],
    [
      { type: "object", properties: { a: { type: "string", pattern: "(" } } },
      'spec.validation.openAPIV3Schema.properties[a].pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(`',
    ],
    [
      { type: "object", properties: { a: { type: "integer", default: "x" } } },
      'spec.validation.openAPIV3Schema.properties[a].default: Invalid value: "string":  in body must be of type integer: "string"',
    ],
    [
      { type: "object", properties: { a: { type: "object", default: { b: 1 } } } },
      'spec.validation.openAPIV3Schema.properties[a].default: Invalid value: {"b":1}: must not have unknown fields',
    ],
    [
      { type: "object", properties: { a: { type: "object", $ref: "#/x" } } },
      "spec.validation.openAPIV3Schema.properties[a].$ref: Forbidden: $ref is not supported",
    ],
    [
      {
        type: "object",
        properties: { metadata: { type: "object", properties: { labels: { type: "object" } } } },
      },
      "spec.validation.openAPIV3Schema.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified",
    ],
    [
      {
        type: "object",
        properties: {
          a: { type: "array", "x-kubernetes-list-type": "map", items: { type: "object" } },
        },
      },
      "spec.validation.openAPIV3Schema.properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map",
    ],
    [
      { type: "object", anyOf: [{ properties: { b: { type: "string" } } }] },
      "spec.validation.openAPIV3Schema.anyOf[0].properties[b].type: Forbidden: must be empty to be structural",
    ],
  ])("with a schema that says too little or too much is refused: %#", async (openAPIV3Schema, problem) => {
    await using api = await TestApi.start();
    const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }];

    const refused = await api.send("POST", DEFINITIONS, definition({ versions }));

    expect(refused.code).toBe(422);
    expect(messages(refused)).toContain(problem);
  });
});
