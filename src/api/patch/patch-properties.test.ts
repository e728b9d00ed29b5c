/** Properties that hold for every type of patch, whatever the values. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isJsonObject, type JsonObject, setOwn } from "../json/json-object.ts";
import { stringifyJson } from "../json/json-text.ts";
import { builtInStruct } from "../schema/built-in-schema.ts";
import type { Schema } from "../schema/schema.ts";
import { jsonEqual } from "./json-equal.ts";
import { applyJsonPatch } from "./json-patch.ts";
import { applyMergePatch } from "./merge-patch.ts";
import { applyStrategicMergePatch } from "./strategic-merge-patch.ts";

const POD_SPEC = builtInStruct("core.v1.PodSpec");
const META = builtInStruct("meta.v1.ObjectMeta");

const scalar = fc.oneof(
  fc.string({ maxLength: 3 }),
  fc.integer(),
  fc.boolean(),
  fc.bigInt({ min: 2n ** 60n, max: 2n ** 62n }),
);
const key = fc.oneof(
  fc.constantFrom("a", "b", "c", "x/y", "m~n", "", "0"),
  fc.constantFrom("__proto__", "constructor", "toString", "hasOwnProperty"),
);
const { value: anyValue, object: anyObject } = fc.letrec<{ value: unknown; object: JsonObject }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, scalar, fc.array(tie("value"), { maxLength: 3 }), tie("object")),
  object: fc.array(fc.tuple(key, tie("value")), { maxLength: 4 }).map(objectOf),
}));

function objectOf(members: readonly (readonly [string, unknown])[]): JsonObject {
  const object: Record<string, unknown> = {};
  for (const [name, value] of members) setOwn(object, name, value);
  return object;
}

function own(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function mergeDiff(before: JsonObject, after: JsonObject): JsonObject {
  const patch: Record<string, unknown> = {};
  for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) setOwn(patch, name, null);
  for (const name of Object.keys(after)) {
    const [left, right] = [own(before, name), own(after, name)];
    if (jsonEqual(left, right)) continue;
    setOwn(patch, name, isJsonObject(left) && isJsonObject(right) ? mergeDiff(left, right) : right);
  }
  return patch;
}

function jsonDiff(before: unknown, after: unknown, path = ""): readonly object[] {
  if (jsonEqual(before, after)) return [];
  if (!isJsonObject(before) || !isJsonObject(after)) return [{ op: "replace", path, value: after }];
  const at = (name: string): string => `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return [
    ...Object.keys(before)
      .filter((name) => !Object.hasOwn(after, name))
      .map((name) => ({ op: "remove", path: at(name) })),
    ...Object.keys(after).flatMap((name) =>
      Object.hasOwn(before, name)
        ? jsonDiff(before[name], after[name], at(name))
        : [{ op: "add", path: at(name), value: after[name] }],
    ),
  ];
}

/** Computes a patch as clients do, with `$setElementOrder` and deletions. */
function strategicDiff(before: JsonObject, after: JsonObject, schema: Schema): JsonObject {
  const patch: Record<string, unknown> = {};
  for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) setOwn(patch, name, null);
  for (const name of Object.keys(after)) {
    const [left, right] = [own(before, name), own(after, name)];
    if (!jsonEqual(left, right)) addFieldDiff(patch, name, { left, right, schema });
  }
  return patch;
}

function addFieldDiff(
  patch: Record<string, unknown>,
  name: string,
  { left, right, schema }: { left: unknown; right: unknown; schema: Schema },
): void {
  const field = schema.type === "struct" ? schema.byName.get(name) : undefined;
  if (isJsonObject(left) && isJsonObject(right)) {
    setOwn(patch, name, strategicDiff(left, right, field?.schema ?? schema));
  } else if (
    Array.isArray(left) &&
    Array.isArray(right) &&
    field?.patchStrategies.includes("merge") === true
  ) {
    Object.assign(
      patch,
      listDiff(left, right, { name, mergeKey: field.mergeKey ?? "", schema: field.schema }),
    );
  } else setOwn(patch, name, right);
}

function listDiff(
  before: readonly unknown[],
  after: readonly unknown[],
  { name, mergeKey, schema }: { name: string; mergeKey: string; schema: Schema },
): JsonObject {
  const items = schema.type === "list" ? schema.items : schema;
  if (mergeKey === "") {
    return {
      [name]: after.filter((item) => !before.includes(item)),
      [`$deleteFromPrimitiveList/${name}`]: before.filter((item) => !after.includes(item)),
      [`$setElementOrder/${name}`]: after,
    };
  }
  const keyed = (list: readonly unknown[]): Map<unknown, JsonObject> =>
    new Map((list as readonly JsonObject[]).map((item) => [item[mergeKey], item]));
  const [left, right] = [keyed(before), keyed(after)];
  const gone = [...left.keys()]
    .filter((id) => !right.has(id))
    .map((id) => ({ [mergeKey]: id, $patch: "delete" }));
  const changed = [...right].map(([id, item]) => {
    const old = left.get(id);
    return old === undefined ? item : { ...strategicDiff(old, item, items), [mergeKey]: id };
  });
  const order = [...right.keys()].map((id) => ({ [mergeKey]: id }));
  return { [name]: [...changed, ...gone], [`$setElementOrder/${name}`]: order };
}

const container = fc.record(
  {
    name: fc.constantFrom("a", "b", "c", "d"),
    image: fc.constantFrom("x", "y"),
    args: fc.array(fc.constantFrom("1", "2"), { maxLength: 2 }),
    ports: fc.uniqueArray(
      fc.record({ containerPort: fc.integer({ min: 1, max: 4 }), name: fc.constantFrom("p", "q") }),
      { selector: ({ containerPort }) => containerPort, maxLength: 3 },
    ),
  },
  { requiredKeys: ["name"] },
);
const podSpec = fc.record(
  {
    containers: fc.uniqueArray(container, { selector: ({ name }) => name, maxLength: 4 }),
    nodeSelector: fc.dictionary(key, fc.string({ maxLength: 2 }), { maxKeys: 3 }),
    tolerations: fc.array(fc.record({ key: fc.constantFrom("k", "l") }), { maxLength: 2 }),
    hostNetwork: fc.boolean(),
  },
  { requiredKeys: [] },
);
const meta = fc.record(
  {
    finalizers: fc.uniqueArray(fc.constantFrom("a", "b", "c", "d")),
    labels: fc.dictionary(key, fc.string({ maxLength: 2 }), { maxKeys: 3 }),
  },
  { requiredKeys: [] },
);

/** A frozen copy as JSON would make it, but with bigints and own `__proto__` keys. */
function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const member of Object.values(value)) frozen(member);
    Object.freeze(value);
  }
  return value;
}

function expectClean(): void {
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as JsonObject).polluted).toBeUndefined();
}

describe("a value patched with its difference to a target becomes the target", () => {
  test("merge patch", () => {
    fc.assert(
      fc.property(anyObject, anyObject, (before, after) => {
        const patched = applyMergePatch(frozen(before), frozen(mergeDiff(before, after)));
        expect(jsonEqual(patched, after), stringifyJson([before, after, patched])).toBe(true);
      }),
    );
  });

  test("JSON patch", () => {
    fc.assert(
      fc.property(anyObject, anyObject, (before, after) => {
        const patched = applyJsonPatch(frozen(before), frozen(jsonDiff(before, after)));
        expect(jsonEqual(patched, after), stringifyJson([before, after, patched])).toBe(true);
      }),
    );
  });

  test.each([
    ["a pod's spec", podSpec as fc.Arbitrary<JsonObject>, POD_SPEC],
    ["metadata", meta as fc.Arbitrary<JsonObject>, META],
  ])("strategic merge patch of %s", (_name, arbitrary, schema) => {
    fc.assert(
      fc.property(arbitrary, arbitrary, (before, after) => {
        const patch = strategicDiff(before, after, schema);
        const patched = applyStrategicMergePatch(frozen(before), frozen(patch), schema);
        expect(jsonEqual(patched, after), stringifyJson([before, after, patch, patched])).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});

describe("keys of Object.prototype are data", () => {
  const hostile = JSON.parse(
    '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"labels":{"__proto__":"x","constructor":"y"}}',
  ) as JsonObject;
  const text = JSON.stringify(hostile);

  test("merge patch", () => {
    const patched = applyMergePatch({}, hostile);

    expect(JSON.stringify(patched)).toBe(text);
    expect(JSON.stringify(applyMergePatch(patched, hostile))).toBe(text);
    expectClean();
  });

  test("strategic merge patch", () => {
    const labels = { labels: { a: "1" } };
    const patched = applyStrategicMergePatch(labels, { labels: hostile.labels }, META);

    expect(JSON.stringify(patched)).toBe('{"labels":{"a":"1","__proto__":"x","constructor":"y"}}');
    expect(JSON.stringify(applyStrategicMergePatch({}, hostile, META))).toBe(text);
    expectClean();
  });

  test("JSON patch", () => {
    const patch = [
      { op: "add", path: "/__proto__", value: { polluted: 1 } },
      { op: "add", path: "/__proto__/deeper", value: 1 },
      { op: "add", path: "/constructor", value: {} },
      { op: "add", path: "/constructor/prototype", value: { polluted: 1 } },
      { op: "test", path: "/toString", value: null },
      { op: "copy", from: "/__proto__", path: "/copy" },
    ];

    expect(JSON.stringify(applyJsonPatch({}, patch))).toBe(
      '{"__proto__":{"polluted":1,"deeper":1},"constructor":{"prototype":{"polluted":1}},"copy":{"polluted":1,"deeper":1}}',
    );
    expect(() => applyJsonPatch({}, [{ op: "add", path: "/__proto__/polluted", value: 1 }])).toThrow(
      "rejected",
    );
    expect(() => applyJsonPatch({}, [{ op: "remove", path: "/constructor" }])).toThrow("rejected");
    expectClean();
  });

  test("any patch at all", () => {
    fc.assert(
      fc.property(anyObject, anyObject, anyValue, (document, patch, value) => {
        applyMergePatch(frozen(document), frozen(patch));
        applyJsonPatch(document, [{ op: "replace", path: "/__proto__", value }]);
        expectClean();
      }),
    );
  });
});
