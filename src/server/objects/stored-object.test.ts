import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { freezeJson } from "../../api/json/json-freeze.ts";
import { incomplete } from "../../api/object-fixture.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import type { Entry } from "../../store/store.ts";
import { findKey } from "./json-offset.ts";
import { encodeObject } from "./object-encoder.ts";
import { StoredObject } from "./stored-object.ts";

function entry(value: Buffer, slot: unknown): Entry {
  return {
    key: "/registry/configmaps/a/b",
    value,
    createRevision: 5,
    modRevision: 7,
    version: 1,
    ordinal: 0,
    expiresAt: undefined,
    slot,
  };
}

const text = fc.oneof(fc.string(), fc.constantFrom("é", '"', "\\", '"uid":"x"', "}{", "resourceVersion"));
const object = fc
  .record({ labels: fc.dictionary(text, text), owner: text, data: fc.dictionary(text, text) })
  .map(({ labels, owner, data }) => ({
    apiVersion: "v1",
    data,
    kind: "ConfigMap",
    metadata: {
      annotations: labels,
      name: "b",
      namespace: "a",
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: owner, uid: owner }],
      uid: "0000",
    },
  }));

describe("StoredObject", () => {
  test.each([["[]", "does not hold an object of the API"]])(
    "rejects %j with an error that hides its content",
    (value, what) => {
      const stored = StoredObject.of(entry(Buffer.from(value), undefined));

      expect(() => stored.object).toThrow(`/registry/configmaps/a/b ${what}`);
    },
  );

  test.each([
    ["no uid", { name: "b" }],
    ["no metadata but a uid", { uid: "1" }],
    ["empty metadata", {}],
  ])("encodes a value of foreign origin with %s as JSON that it reads again", (_, metadata) => {
    const value = incomplete<ApiObject>({ apiVersion: "v1", kind: "ConfigMap", metadata });
    const encoded = encodeObject(value);

    expect(JSON.parse(encoded.bytes.toString())).toEqual(value);
    const served = JSON.parse(StoredObject.of(entry(encoded.bytes, encoded)).json.toString()) as ApiObject;
    const { resourceVersion, ...rest } = served.metadata;
    expect({ ...served, metadata: rest }).toEqual(value);
    expect(resourceVersion).toMatch(/^\d+$/);
  });

  test("serves the stored object with its revision, equal from memory and from disk", () => {
    fc.assert(
      fc.property(object, (value) => {
        const encoded = encodeObject(value);
        const fresh = StoredObject.of(entry(encoded.bytes, encoded));
        const loaded = StoredObject.of(entry(encoded.bytes, undefined));

        const expected = { ...value, metadata: { ...value.metadata, resourceVersion: "7" } };
        expect(JSON.parse(encoded.bytes.toString())).toEqual(value);
        expect(JSON.parse(fresh.json.toString())).toEqual(expected);
        expect(loaded.json.equals(fresh.json)).toBe(true);
        expect(loaded.object).toEqual(expected);
        expect(JSON.stringify(loaded.object)).toBe(loaded.json.toString());
      }),
    );
  });

  test("returns an equal object after release", () => {
    fc.assert(
      fc.property(object, (value) => {
        const encoded = encodeObject(value);
        const stored = StoredObject.of(entry(encoded.bytes, encoded));
        const before = { object: stored.object, json: stored.json.toString() };

        stored.release();

        expect(stored.isWrittenAs(encoded)).toBe(true);
        expect(stored.json.toString()).toBe(before.json);
        expect(stored.object).toEqual(before.object);
      }),
    );
  });

  test("briefJson returns the bytes of json, and caches none", () => {
    fc.assert(
      fc.property(object, (value) => {
        const encoded = encodeObject(value);
        const stored = StoredObject.of(entry(encoded.bytes, encoded));
        const brief = stored.briefJson;

        expect(stored.json.equals(brief)).toBe(true);
        expect(stored.json.buffer).not.toBe(brief.buffer);
        expect(stored.briefJson).toBe(stored.json);
      }),
    );
  });

  test("keeps only its own bytes in memory", () => {
    const { bytes } = encodeObject({ apiVersion: "v1", kind: "X", metadata: { uid: "1" } } as ApiObject);

    expect(bytes.buffer.byteLength).toBe(bytes.length);
    expect(StoredObject.of(entry(bytes, undefined)).json.buffer.byteLength).toBe(
      StoredObject.of(entry(bytes, undefined)).json.length,
    );
  });

  test("has the data of a ControllerRevision as Go writes JSON, byte for byte", () => {
    const revision = { kind: "ControllerRevision", metadata: { uid: "1" }, data: { args: ["a && b"] } };
    const { bytes } = encodeObject({ apiVersion: "apps/v1", ...revision } as ApiObject);

    expect(bytes.toString()).toContain(String.raw`"data":{"args":["a \u0026\u0026 b"]}`);
  });

  test("is created once per entry", () => {
    const shared = entry(
      encodeObject({ apiVersion: "v1", kind: "X", metadata: { uid: "1" } } as ApiObject).bytes,
      undefined,
    );

    expect(StoredObject.of(shared)).toBe(StoredObject.of(shared));
  });
});

describe("findKey", () => {
  test.each([
    ['{"a":{"uid":1},"metadata":{"b":{"uid":2},"uid":3}}', 41],
    ['{"metadata":{"x":["uid"],"y":"\\"uid\\":"},"uid":1}', undefined],
    ['{"metadata":{"uid":1}}', 13],
    ["{}", undefined],
  ])("in %s the uid of the metadata is at %s", (json, at) => {
    expect(findKey(Buffer.from(json), ["metadata", "uid"])).toBe(at);
  });

  test("has the same bytes with a frozen, partly frozen or unfrozen spec", () => {
    const part = fc.oneof(fc.string(), fc.array(fc.string()), fc.dictionary(fc.string(), fc.jsonValue()));
    fc.assert(
      fc.property(fc.dictionary(text, part), fc.integer({ min: 0, max: 2 }), (spec, frozen) => {
        const value = { apiVersion: "v1", kind: "Pod", metadata: { name: "a", uid: "0" }, spec } as const;
        const before = encodeObject(value).bytes;
        const parts = Object.values(spec);
        for (const each of frozen === 2 ? [spec] : parts.slice(0, frozen)) Object.freeze(each);

        expect(encodeObject(value).bytes.equals(before)).toBe(true);
        expect(encodeObject(value).bytes.equals(before)).toBe(true);
      }),
    );
  });

  test("has its frozen spec after its JSON was made, and after release", () => {
    const spec = freezeJson({ containers: [{ image: "x".repeat(300), name: "of this test" }] });
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "b", uid: "0000" }, spec, status: {} };
    const encoded = encodeObject(pod as ApiObject);
    const stored = StoredObject.of(entry(encoded.bytes, encoded));
    const specs = (): unknown[] => {
      const served = JSON.parse(stored.json.toString()) as typeof pod;
      return [served.spec, (stored.object as typeof pod).spec];
    };

    const [before, made] = specs();
    stored.release();
    const [after, read] = specs();

    expect([made, read].every((one) => one === spec)).toBe(true);
    expect([before, after]).toEqual([spec, spec]);
  });
});
