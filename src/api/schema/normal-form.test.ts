import { describe, expect, test } from "vitest";
import type { JsonObject } from "../json/json-object.ts";
import { stringifyJson } from "../json/json-text.ts";
import { builtInStruct } from "./built-in-schema.ts";
import { toNormalForm } from "./normal-form.ts";
import { type FieldOptions, type Schema, StructSchema } from "./schema.ts";

const pod = builtInStruct("core.v1.Pod");
const deployment = builtInStruct("apps.v1.Deployment");

function normal(schema: StructSchema, value: unknown): JsonObject {
  return toNormalForm(schema, value).value;
}

function customStruct(fields: readonly (readonly [string, Schema])[], keepsUnknown = false): StructSchema {
  const options = (name: string, schema: Schema): FieldOptions => ({
    name,
    schema,
    pointer: true,
    always: false,
    required: false,
    wirePath: [],
    patchStrategies: [],
    mergeKey: undefined,
    defaultValue: undefined,
  });
  return new StructSchema({
    name: "Custom",
    definition: "example.v1.Custom",
    keepsUnknown,
    fields: () => fields.map(([name, schema]) => options(name, schema)),
  });
}

describe("the normal form", () => {
  test("omits null and the zeros that Go omits, and fills in the fields that Go always writes", () => {
    const sent = {
      kind: "Pod",
      apiVersion: "v1",
      metadata: { name: "a", labels: {}, creationTimestamp: null },
      spec: {
        containers: [{ name: "c", image: "", tty: false, ports: null }],
        hostNetwork: false,
        nodeName: null,
      },
    };

    const found = normal(pod, sent);

    expect(JSON.stringify(found)).toBe(
      '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},' +
        '"spec":{"containers":[{"name":"c","resources":{}}]},"status":{}}',
    );
  });

  test("keeps the zero of a pointer", () => {
    expect(normal(deployment, { spec: { replicas: 0, paused: false } })["spec"]).toEqual({
      replicas: 0,
      strategy: {},
      template: { metadata: {}, spec: { containers: [] } },
    });
  });

  test("is the same object if nothing changes, and shares unchanged parts", () => {
    const labels = { a: "1", b: "2" };
    const value = normal(pod, { metadata: { labels, name: "x" }, spec: { containers: [] }, status: {} });

    expect(normal(pod, value)).toBe(value);
    expect((value["metadata"] as JsonObject)["labels"]).toBe(labels);
  });

  test("skips parts identical in the known object, and visits all others", () => {
    const shared = { name: "a", image: "" };
    const pod = { apiVersion: "v1", kind: "Pod", spec: { containers: [shared, { name: "b" }] }, status: {} };
    const schema = builtInStruct("core.v1.Pod");
    const spec = { containers: [shared, { name: "b", image: "" }] };

    const { value } = toNormalForm(schema, { ...pod, metadata: { name: "" }, spec }, pod);

    expect(value["metadata"]).toEqual({});
    const { containers } = value["spec"] as { readonly containers: readonly JsonObject[] };
    expect(containers[0]).toBe(shared);
    expect(containers[1]).toEqual({ name: "b", resources: {} });
  });

  test("has fields and map keys in order, so that equal meaning gives equal bytes", () => {
    const one = normal(pod, { metadata: { name: "a", labels: { b: "2", a: "1", "10": "x", "9": "y" } } });
    const two = normal(pod, { metadata: { labels: { "9": "y", a: "1", "10": "x", b: "2" }, name: "a" } });

    expect(JSON.stringify(one)).toBe(JSON.stringify(two));
    expect(normal(pod, one)).toBe(one);
  });

  test.each([
    ["100u", "1m"],
    ["0.0012", "2m"],
    ["1n", "1m"],
    ["2500m", "2500m"],
    ["1e-6", "1e-3"],
    ["1.00001Gi", "1073752561419m"],
    ["1Gi", "1Gi"],
  ])("rounds resource amounts up to thousandths: %s", (sent, amount) => {
    const container = { name: "a", resources: { limits: { cpu: sent } } };

    expect(normal(pod, { spec: { containers: [container] } })).toMatchObject({
      spec: { containers: [{ resources: { limits: { cpu: amount } } }] },
    });
  });

  test("does not round other quantities", () => {
    const requirements = builtInStruct("resource.v1.CapacityRequirements");

    expect(normal(requirements, { requests: { memory: "100u" } })).toEqual({ requests: { memory: "100u" } });
  });

  test("spells quantities, times and bytes canonically", () => {
    const resources = { limits: { cpu: "0.5", memory: "1024Mi", "example.com/x": 2 } };
    const found = normal(builtInStruct("core.v1.Container"), { name: "c", resources });
    expect(found["resources"]).toEqual({ limits: { cpu: "500m", "example.com/x": "2", memory: "1Gi" } });

    const lease = { acquireTime: "2026-01-02T03:04:05.5Z", renewTime: "2026-01-31T01:00:00+01:00" };
    expect(normal(builtInStruct("coordination.v1.LeaseSpec"), lease)).toEqual({
      acquireTime: "2026-01-02T03:04:05.500000Z",
      renewTime: "2026-01-31T00:00:00.000000Z",
    });

    const condition = { type: "Ready", status: "True", lastTransitionTime: "2026-02-30T00:00:00Z" };
    expect(() => normal(builtInStruct("core.v1.PodCondition"), condition)).toThrow(
      'parsing time "2026-02-30',
    );
    expect(normal(builtInStruct("core.v1.Secret"), { data: { a: "AQ\n==" } })["data"]).toEqual({ a: "AQ==" });
  });

  test("a zero time is absent, whatever its spelling", () => {
    const meta = builtInStruct("meta.v1.ObjectMeta");
    expect(normal(meta, { name: "a", deletionTimestamp: "0001-01-01T00:00:00Z" })).toEqual({ name: "a" });
  });

  test("null in a list or map becomes a zero in the same place", () => {
    expect(
      normal(builtInStruct("meta.v1.ObjectMeta"), { labels: { a: null }, finalizers: [null, "x"] }),
    ).toEqual({
      finalizers: ["", "x"],
      labels: { a: "" },
    });
  });

  test("unknown fields are pruned and reported with their path", () => {
    const sent = {
      spec: { containers: [{ name: "a", foo: 1 }], bar: {} },
      nope: null,
      metadata: { labels: { x: "" } },
    };
    const { value, unknownFields } = toNormalForm(pod, sent);

    expect(unknownFields).toEqual(["spec.containers[0].foo", "spec.bar", "nope"]);
    expect(value["spec"]).toEqual({ containers: [{ name: "a", resources: {} }] });
  });

  test("at most a hundred unknown fields are reported", () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`x${String(at)}`, 1]));
    expect(toNormalForm(pod, many).unknownFields).toHaveLength(100);
  });

  test("names of Object.prototype are ordinary keys", () => {
    const labels = JSON.parse('{"__proto__":"a","constructor":"b","a":null}') as JsonObject;
    const found = normal(builtInStruct("meta.v1.ObjectMeta"), { labels })["labels"] as JsonObject;

    expect(Object.keys(found)).toEqual(["__proto__", "a", "constructor"]);
    expect(Object.getPrototypeOf(found)).toBe(Object.prototype);
    expect(toNormalForm(pod, JSON.parse('{"__proto__":{"x":1}}')).unknownFields).toEqual(["__proto__"]);
  });

  test("a struct that keeps unknown fields sorts them", () => {
    const schema = customStruct(
      [
        ["b", { type: "int64" }],
        ["constructor", { type: "string" }],
      ],
      true,
    );
    const found = normal(schema, JSON.parse('{"z":null,"b":1,"a":{"y":1},"constructor":"x"}'));

    expect(JSON.stringify(found)).toBe('{"a":{"y":1},"b":1,"constructor":"x","z":null}');
    expect(normal(schema, {})).toEqual({});
  });

  test("an int64 beyond 2^53 stays exact, in memory and in JSON", () => {
    const schema = builtInStruct("meta.v1.ObjectMeta");
    const value = normal(schema, { generation: 9007199254740993n, deletionGracePeriodSeconds: 5n });

    expect(value).toEqual({ deletionGracePeriodSeconds: 5, generation: 9007199254740993n });
    expect(stringifyJson(value)).toBe('{"deletionGracePeriodSeconds":5,"generation":9007199254740993}');
  });

  test("a schema nested in itself beyond the bound is refused", () => {
    let nested: unknown = {};
    for (let depth = 0; depth < 600; depth++) nested = { not: nested };
    expect(() => normal(builtInStruct("apiextensions.v1.JSONSchemaProps"), nested)).toThrow(
      "exceeded max depth",
    );
  });
});

describe("values of the wrong type", () => {
  const cases: readonly (readonly [string, StructSchema, unknown, string])[] = [
    [
      "a string for a number",
      deployment,
      { spec: { replicas: "3" } },
      "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
    ],
    [
      "a fraction for a number",
      deployment,
      { spec: { replicas: 1.5 } },
      "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
    ],
    [
      "a number too large",
      deployment,
      { spec: { replicas: 3_000_000_000 } },
      "json: cannot unmarshal number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32",
    ],
    [
      "a string for an item",
      deployment,
      { spec: { template: { spec: { containers: ["a"] } } } },
      "json: cannot unmarshal string into Go struct field PodSpec.spec.template.spec.containers of type v1.Container",
    ],
    [
      "an object for a list",
      pod,
      { spec: { containers: {} } },
      "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container",
    ],
    [
      "a number for a label",
      pod,
      { metadata: { labels: { a: 1 } } },
      "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
    ],
    [
      "a number for text with a type of its own",
      pod,
      { status: { conditions: [{ status: 1 }] } },
      "json: cannot unmarshal number into Go struct field PodCondition.status.conditions.status of type v1.ConditionStatus",
    ],
    [
      "a number in a list of them",
      builtInStruct("core.v1.PersistentVolumeClaimStatus"),
      { accessModes: [1] },
      "json: cannot unmarshal number into Go struct field PersistentVolumeClaimStatus.accessModes of type v1.PersistentVolumeAccessMode",
    ],
    [
      "a list for a list of resources",
      pod,
      { spec: { containers: [{ resources: { limits: [] } }] } },
      "json: cannot unmarshal array into Go struct field ResourceRequirements.spec.containers.resources.limits of type v1.ResourceList",
    ],
    ["a list for an object", pod, [], "json: cannot unmarshal array into Go value of type v1.Pod"],
    [
      "a bool for a port",
      builtInStruct("core.v1.ServicePort"),
      { targetPort: true },
      "json: cannot unmarshal bool into Go value of type int32",
    ],
    [
      "text that is no base64",
      builtInStruct("core.v1.Secret"),
      { data: { a: "ab!d" } },
      "illegal base64 data at input byte 2",
    ],
    [
      "text that is no quantity",
      builtInStruct("core.v1.ResourceRequirements"),
      { limits: { cpu: "much" } },
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
  ];
  for (const [what, schema, value, message] of cases) {
    test(`${what} is refused in Go's words`, () => {
      expect(() => normal(schema, value)).toThrow(message);
    });
  }
});
