import { describe, expect, test } from "vitest";
import type { ApiObject } from "../../api/api-object.ts";
import type { ObjectMeta } from "../../api/generated/types/meta-v1.ts";
import { allOf, annotationsChanged, anyOf, generationChanged, labelsChanged } from "./predicates.ts";

function object(metadata: ObjectMeta): ApiObject {
  return { apiVersion: "v1", kind: "Pod", metadata: { name: "a", uid: "1", ...metadata } };
}

const old = object({ generation: 1, labels: { a: "1" }, annotations: { b: "1" } });

describe("predicates", () => {
  test("new and deleted objects always trigger a pass", () => {
    for (const predicate of [generationChanged, labelsChanged, annotationsChanged]) {
      expect(predicate({ before: undefined, after: old })).toBe(true);
      expect(predicate({ before: old, after: undefined })).toBe(true);
    }
  });

  test("each predicate compares only its own part", () => {
    const relabelled = object({ generation: 1, labels: { a: "2" }, annotations: { b: "1" } });
    const respecified = object({ generation: 2, labels: { a: "1" }, annotations: { b: "1" } });

    expect(labelsChanged({ before: old, after: relabelled })).toBe(true);
    expect(generationChanged({ before: old, after: relabelled })).toBe(false);
    expect(generationChanged({ before: old, after: respecified })).toBe(true);
    expect(annotationsChanged({ before: old, after: respecified })).toBe(false);
  });

  test("the start of a deletion counts as a change of generation", () => {
    const marked = object({ generation: 1, deletionTimestamp: "2026-01-01T00:00:00Z" });

    expect(generationChanged({ before: object({ generation: 1 }), after: marked })).toBe(true);
  });

  test("an object that was deleted and created again counts as changed", () => {
    expect(generationChanged({ before: old, after: object({ uid: "2", generation: 1 }) })).toBe(true);
  });

  test("anyOf needs one predicate to hold, allOf needs all", () => {
    const relabelled = object({ generation: 1, labels: {}, annotations: { b: "1" } });
    const change = { before: old, after: relabelled };

    expect(anyOf(generationChanged, labelsChanged)(change)).toBe(true);
    expect(allOf(generationChanged, labelsChanged)(change)).toBe(false);
  });
});
