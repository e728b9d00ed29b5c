/**
 * Checks for every kind that JSON → protobuf → JSON is the identity. Malformed bytes end in an error, never in a hang.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../base/loop/random.ts";
import { builtInKinds, builtInStruct, findKindSchema } from "../schema/built-in-schema.ts";
import { DecodeError } from "../schema/decode-error.ts";
import { toNormalForm } from "../schema/normal-form.ts";
import type { ScalarType, Schema, StructSchema } from "../schema/schema.ts";
import { decodeMessage } from "./decode.ts";
import { encodeMessage } from "./encode.ts";
import { decodeObject, encodeList, encodeObject, encodeWatchEvent, readEnvelope } from "./envelope.ts";

const SEED = 36;
const TEXTS = ["", "a", "web-1", "größe", "日本", "x".repeat(40), "__proto__", "constructor", "7", "10"];
const SCALARS: Readonly<Record<ScalarType, readonly unknown[]>> = {
  string: TEXTS,
  int32: [0, 1, -1, 127, 128, 300_000, -(2 ** 31), 2 ** 31 - 1],
  int64: [0, -1, 2 ** 49, -(2 ** 53) + 1, 2 ** 53 - 1, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)],
  float: [0, -1.5, 1e300, 0.1],
  boolean: [true, false],
  bytes: ["", "AQ==", "AAAA", "/+8="],
  quantity: ["0", "500m", "1Gi", "0.5", "-1", 3, "1e3"],
  time: ["2026-01-02T03:04:05Z", "1969-12-31T23:59:59Z", "0500-01-01T00:00:00Z", "2026-01-31T01:00:00+01:00"],
  microTime: ["2026-01-02T03:04:05.000006Z", "1969-12-31T23:59:59.5Z"],
  intOrString: [0, -1, 8080, "50%", ""],
  raw: [{}, { b: [1, null, "x"], a: {} }, [], "text", 7],
};

/** A value of the schema as a client might send it: some fields absent, some null, some zero. */
function anyValue(schema: Schema, random: () => number, depth: number): unknown {
  const one = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const many = (): number => (depth > 5 ? 0 : Math.floor(random() * 3));
  if (schema.type === "struct") return anyStruct(schema, random, depth);
  if (schema.type === "list") {
    return Array.from({ length: many() }, () => anyValue(schema.items, random, depth + 1));
  }
  if (schema.type === "map") {
    const keys = Array.from({ length: many() }, () => one(TEXTS));
    return Object.fromEntries(keys.map((key) => [key, anyValue(schema.values, random, depth + 1)]));
  }
  if (schema.type !== "either") return one(SCALARS[schema.type]);
  if (random() < 0.5) return anyStruct(schema.struct, random, depth + 1);
  return { boolean: random() < 0.5, strings: ["a"], structs: [{}] }[schema.other];
}

function anyStruct(schema: StructSchema, random: () => number, depth: number): unknown {
  const density = depth > 4 ? 0.1 : 0.5;
  const members = schema.fields
    // The envelope holds kind and apiVersion of the whole object only, as in Go.
    .filter(({ wirePath }) => depth === 0 || wirePath.length > 0)
    .filter(() => random() < density)
    .map(({ name, schema: inner }) => [name, random() < 0.1 ? null : anyValue(inner, random, depth + 1)]);
  return Object.fromEntries(members);
}

function normalValue(schema: StructSchema, seed: number): ReturnType<typeof toNormalForm>["value"] {
  const random = seededRandom(SEED, schema.definition, seed);
  return toNormalForm(
    schema,
    anyValue(schema, () => random.next(), 0),
  ).value;
}

describe("protobuf", () => {
  for (const [apiVersion, kind] of builtInKinds()) {
    const schema = findKindSchema(apiVersion, kind);
    if (schema === undefined) continue;
    test(`${apiVersion} ${kind} survives the way through the wire, and its normal form is normal`, () => {
      const property = fc.property(fc.nat(), (seed) => {
        const value = normalValue(schema, seed);
        expect(toNormalForm(schema, value).value).toBe(value);
        const again = decodeObject(schema, readEnvelope(encodeObject(schema, value)));
        expect(again).toEqual(value);
        expect(JSON.stringify(again, exact)).toBe(JSON.stringify(value, exact));
      });
      fc.assert(property, { seed: SEED, numRuns: 8 });
    });
  }

  test("truncated or damaged bytes are refused or decoded, and never hang", () => {
    const schema = builtInStruct("core.v1.Pod");
    const property = fc.property(fc.nat(50), fc.nat(), fc.nat(255), (seed, place, byte) => {
      const bytes = encodeMessage(schema, normalValue(schema, seed));
      const at = place % (bytes.length + 1);
      const damaged = Uint8Array.from(bytes);
      damaged[at] = byte;
      for (const broken of [bytes.subarray(0, at), damaged]) expectReadable(schema, broken);
    });
    fc.assert(property, { seed: SEED, numRuns: 500 });
  });

  test("arbitrary bytes are refused or decoded", () => {
    const schema = builtInStruct("apiextensions.v1.CustomResourceDefinition");
    const property = fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => expectReadable(schema, bytes));
    fc.assert(property, { seed: SEED, numRuns: 500 });
  });

  test("a schema nested in itself beyond the bound is refused", () => {
    const schema = builtInStruct("apiextensions.v1.JSONSchemaProps");
    const not = schema.byName.get("not")?.wirePath[0] ?? 0;
    let bytes = new Uint8Array();
    for (let depth = 0; depth < 600; depth++) bytes = Uint8Array.from(field(not, bytes));
    expect(() => decodeMessage(schema, bytes)).toThrow("proto: exceeded max depth");
  });

  test("a body of many tiny messages is refused before it fills memory", () => {
    const containers = new Uint8Array(1_000_000);
    for (let at = 0; at < containers.length; at += 2) containers[at] = 0x12;
    const schema = builtInStruct("core.v1.PodSpec");
    expect(() => decodeMessage(schema, containers)).toThrow("more than 160000 values");
  });

  test("invalid UTF-8 is refused, but the replacement character is not", () => {
    const schema = builtInStruct("meta.v1.ObjectMeta");
    const good = encodeMessage(schema, { name: "a\uFFFDb" });
    expect(decodeMessage(schema, good)).toEqual({ name: "a\uFFFDb" });
    expect(() => decodeMessage(schema, Uint8Array.of(0x0a, 0x02, 0xc3, 0x28))).toThrow("invalid UTF-8");
  });

  test("a watch event holds the enveloped object, and a list its items", () => {
    const pod = builtInStruct("core.v1.Pod");
    const value = toNormalForm(pod, { apiVersion: "v1", kind: "Pod", metadata: { name: "a" } }).value;
    const object = encodeObject(pod, value);
    const event = encodeWatchEvent("ADDED", object);
    expect(Buffer.from(event.subarray(0, 7)).toString("latin1")).toBe("\n\u0005ADDED");
    expect(Buffer.from(event.subarray(event.length - object.length))).toEqual(Buffer.from(object));

    const meta = encodeMessage(builtInStruct("meta.v1.ListMeta"), { resourceVersion: "7" });
    const bytes = encodeList({ apiVersion: "v1", kind: "PodList" }, meta, [encodeMessage(pod, value)]);
    const list = decodeObject(builtInStruct("core.v1.PodList"), readEnvelope(bytes));
    expect(list).toEqual({
      apiVersion: "v1",
      items: [{ metadata: { name: "a" }, spec: value["spec"], status: {} }],
      kind: "PodList",
      metadata: { resourceVersion: "7" },
    });
  });

  test("plain zeros decode as absent, a pointer's zero as a value", () => {
    const schema = builtInStruct("apps.v1.DeploymentSpec");
    const zeros = Uint8Array.of(0x08, 0x00, 0x28, 0x00, 0x38, 0x00);
    expect(decodeMessage(schema, zeros)).toMatchObject({ replicas: 0 });
    expect(Object.keys(decodeMessage(schema, zeros))).toEqual(["replicas", "strategy", "template"]);
  });
});

function exact(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? `int64 ${String(value)}` : value;
}

function field(number: number, content: Uint8Array): readonly number[] {
  const length = content.length;
  const tag = number * 8 + 2;
  return [...varint(tag), ...varint(length), ...content];
}

function varint(value: number): readonly number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}

function expectReadable(schema: StructSchema, bytes: Uint8Array): void {
  try {
    decodeMessage(schema, bytes);
  } catch (error) {
    expect(error).toBeInstanceOf(DecodeError);
  }
}
