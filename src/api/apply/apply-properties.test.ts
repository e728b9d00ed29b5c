/** Properties of apply and of tracking that hold for all objects. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isJsonObject, type JsonObject, setOwn } from "../json/json-object.ts";
import { jsonEqual } from "../patch/json-equal.ts";
import { findKindSchema } from "../schema/built-in-schema.ts";
import { toNormalForm } from "../schema/normal-form.ts";
import type { StructSchema } from "../schema/schema.ts";
import { applyPatch } from "./apply-patch.ts";
import { parseFieldSet } from "./fields/field-set.ts";
import { managedFieldsOf, trackUpdate } from "./managed-fields.ts";
import type { Writer } from "./writer.ts";

const POD = podSchema();

function podSchema(): StructSchema {
  const schema = findKindSchema("v1", "Pod");
  if (schema === undefined) throw new Error("no Pod");
  return schema;
}

function writer(manager: string, now = "2026-11-15T05:00:00Z"): Writer {
  const versions = { findSchema: () => POD, convert: (object: JsonObject) => object };
  return { manager, apiVersion: "v1", kind: "Pod", subresource: "", now, versions };
}

function normal(object: JsonObject): JsonObject {
  return toNormalForm(POD, object).value;
}

function apply(live: JsonObject | undefined, config: JsonObject, as: Writer): JsonObject {
  return applyPatch({ live, config, writer: as, onConflict: "force", finish: normal }).object;
}

const key = fc.constantFrom("a", "b", "__proto__", "constructor");
const labels = fc.array(fc.tuple(key, fc.constantFrom("1", "2")), { maxLength: 3 }).map((members) => {
  const map: Record<string, unknown> = {};
  for (const [name, value] of members) setOwn(map, name, value);
  return map;
});
const port = fc.record(
  {
    containerPort: fc.integer({ min: 1, max: 3 }),
    protocol: fc.constantFrom("TCP", "UDP"),
    name: fc.constantFrom("p", "q"),
  },
  { requiredKeys: ["containerPort"] },
);
const container = (names: readonly string[]): fc.Arbitrary<JsonObject> =>
  fc.record(
    {
      name: fc.constantFrom(...names),
      image: fc.constantFrom("x:1", "x:2"),
      tty: fc.boolean(),
      args: fc.array(fc.constantFrom("1", "2"), { maxLength: 2 }),
      env: fc.uniqueArray(fc.record({ name: fc.constantFrom("A", "B"), value: fc.constantFrom("1", "") }), {
        selector: ({ name }) => name,
      }),
      ports: fc.uniqueArray(port, {
        selector: ({ containerPort, protocol = "TCP" }) => `${containerPort}${protocol}`,
        maxLength: 3,
      }),
      resources: fc.record({ limits: fc.record({ cpu: fc.constantFrom("0.5", "500m", "1") }) }),
    },
    { requiredKeys: ["name"] },
  ) as fc.Arbitrary<JsonObject>;

function pod(names: readonly string[], spec: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> {
  return fc
    .tuple(fc.uniqueArray(container(names), { selector: ({ name }) => name }), labels, spec)
    .map(([containers, map, rest]) => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p", labels: map },
      spec: { containers, ...rest },
    }));
}

const anyPod = pod(
  ["a", "b", "c"],
  fc.record(
    {
      tolerations: fc.array(fc.record({ key: fc.constantFrom("k", "l") }), { maxLength: 2 }),
      nodeSelector: labels,
      hostNetwork: fc.boolean(),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<JsonObject>,
);

/** Two intents that share no field. An empty map would be a shared field, because it claims the map itself. */
const disjoint = fc.tuple(
  pod(["a", "b"], fc.constant({ hostNetwork: true })).map(onlyLabels("left-")),
  pod(["c", "d"], fc.constant({ tolerations: [{ key: "k" }] })).map(onlyLabels("right-")),
);

function onlyLabels(prefix: string): (pod: JsonObject) => JsonObject {
  return (object) => {
    const { labels: map, ...metadata } = object.metadata as JsonObject;
    const names = Object.keys(map as object).map((name) => [`${prefix}${name}`, "1"]);
    if (names.length === 0) return { ...object, metadata };
    return { ...object, metadata: { ...metadata, labels: Object.fromEntries(names) as JsonObject } };
  };
}

function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const member of Object.values(value)) frozen(member);
    Object.freeze(value);
  }
  return value;
}

/** The object without managed fields, with list items sorted by name: appliers do not own the order. */
function content(object: JsonObject): unknown {
  const { managedFields: _, ...metadata } = object.metadata as JsonObject;
  return sorted({ ...object, metadata });
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value))
    return value.map(sorted).toSorted((left, right) => (text(left) < text(right) ? -1 : 1));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((name) => [name, sorted(value[name])]),
  );
}

function text(value: unknown): string {
  return JSON.stringify(value);
}

describe("apply", () => {
  test("of the same intent twice changes nothing, whatever another applier applied before", () => {
    fc.assert(
      fc.property(anyPod, anyPod, (first, second) => {
        const created = frozen(apply(undefined, frozen(first), writer("one")));
        const live = frozen(apply(created, frozen(second), writer("two")));

        const again = applyPatch({
          live,
          config: second,
          writer: writer("two", "2027-01-01T00:00:00Z"),
          onConflict: "fail",
          finish: normal,
        });

        expect(again.isChanged, text([first, second, live, again.object])).toBe(false);
        expect(again.object).toBe(live);
      }),
      { numRuns: 300 },
    );
  });

  test("of disjoint intents gives the same object in either order", () => {
    fc.assert(
      fc.property(disjoint, ([left, right]) => {
        const one = apply(apply(undefined, left, writer("l")), right, writer("r"));
        const other = apply(apply(undefined, right, writer("r")), left, writer("l"));

        expect(content(one)).toEqual(content(other));
        expect(managedFieldsOf(one)).toEqual(managedFieldsOf(other));
      }),
    );
  });

  test("of an empty intent leaves the fields that the other applier stated", () => {
    fc.assert(
      fc.property(disjoint, ([left, right]) => {
        const alone = apply(undefined, right, writer("r"));
        const both = frozen(apply(alone, left, writer("l")));

        const after = apply(both, { apiVersion: "v1", kind: "Pod", metadata: { name: "p" } }, writer("l"));

        expect(content(after), text([left, right, both])).toEqual(content(alone));
        expect(managedFieldsOf(after)).toEqual(managedFieldsOf(alone));
      }),
    );
  });

  test("by a single applier gives the stated object, whatever the applier stated before", () => {
    fc.assert(
      fc.property(anyPod, anyPod, (first, second) => {
        const live = apply(undefined, first, writer("one"));

        const object = apply(live, second, writer("one"));

        expect(content(object)).toEqual(content(apply(undefined, second, writer("one"))));
      }),
    );
  });
});

describe("tracking", () => {
  test("gives the last writer every field it changed, in canonical sets, and no other", () => {
    fc.assert(
      fc.property(anyPod, anyPod, (first, second) => {
        const live = frozen(trackUpdate({ live: undefined, next: normal(first), writer: writer("one") }));

        const stored = trackUpdate({ live, next: frozen(normal(second)), writer: writer("two") });

        expect(content(stored)).toEqual(content(normal(second)));
        for (const entry of (managedFieldsOf(stored) ?? []) as readonly JsonObject[]) {
          expect(parseFieldSet(entry.fieldsV1)).toBe(entry.fieldsV1);
        }
      }),
    );
  });

  test("of a write without changes keeps the entries themselves", () => {
    fc.assert(
      fc.property(anyPod, (object) => {
        const live = trackUpdate({ live: undefined, next: normal(object), writer: writer("one") });
        const next = { ...live, metadata: { ...(live.metadata as JsonObject) } };

        const stored = trackUpdate({ live, next, writer: writer("two") });

        expect(managedFieldsOf(stored)).toBe(managedFieldsOf(live));
        expect(jsonEqual(stored, live)).toBe(true);
      }),
    );
  });
});
