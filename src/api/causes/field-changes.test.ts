import { describe, expect, test } from "vitest";
import type { ApiObject } from "../api-object.ts";
import { fieldChanges } from "./field-changes.ts";

function object(members: object, metadata: object = {}): ApiObject {
  return { apiVersion: "v1", kind: "Pod", metadata: { name: "a", ...metadata }, ...members } as ApiObject;
}

describe("fieldChanges", () => {
  test("tells the items of a list apart by their names, not by their places", () => {
    const before = object({
      spec: {
        containers: [
          { name: "web", image: "a:1" },
          { name: "log", image: "l" },
        ],
      },
    });
    const after = object({
      spec: {
        containers: [
          { name: "log", image: "l" },
          { name: "web", image: "a:2" },
        ],
      },
    });

    expect(fieldChanges(before, after, 10)).toEqual([
      { path: "spec.containers[web].image", before: "a:1", after: "a:2" },
    ]);
  });

  test("shows added and removed fields, and values without names by their index", () => {
    const before = object({ spec: { args: ["a", "b"], gone: 1 } }, { labels: { "a.b/c": "x" } });
    const after = object({ spec: { args: ["a", "c"], made: { deep: true } } }, { labels: {} });

    expect(fieldChanges(before, after, 10)).toEqual([
      { path: "metadata.labels[a.b/c]", before: "x" },
      { path: "spec.args[1]", before: "b", after: "c" },
      { path: "spec.gone", before: 1 },
      { path: "spec.made", after: { deep: true } },
    ]);
  });

  test("leaves out bookkeeping and copies of the object", () => {
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "{}", own: "1" };
    const before = object({}, { resourceVersion: "1", generation: 1, annotations: {} });
    const after = object({}, { resourceVersion: "2", generation: 2, managedFields: [{}], annotations });

    expect(fieldChanges(before, after, 10)).toEqual([{ path: "metadata.annotations.own", after: "1" }]);
  });

  test("keeps paths short, whatever names and nesting an object has", () => {
    const nested = (value: number): object => {
      let found: object = { value };
      for (let depth = 0; depth < 300; depth++) found = { longer: found };
      return found;
    };
    const of = (value: number) =>
      object({ spec: { ["k".repeat(100_000)]: { a: value, b: value } }, nested: nested(value) });

    const changes = fieldChanges(of(1), of(2), 10);

    expect(changes).toHaveLength(3);
    for (const { path } of changes) expect(path.length).toBeLessThan(1000);
  });

  test("stops at its limit", () => {
    const after = object({
      spec: Object.fromEntries(Array.from({ length: 99 }, (_, n) => [`f${String(n)}`, n])),
    });

    expect(fieldChanges(object({ spec: {} }), after, 5)).toHaveLength(5);
  });
});
