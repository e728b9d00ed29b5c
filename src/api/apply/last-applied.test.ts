import { describe, expect, test } from "vitest";
import type { JsonObject } from "../json/json-object.ts";
import { findKindSchema } from "../schema/built-in-schema.ts";
import { applyPatch } from "./apply-patch.ts";
import { trackUpdate } from "./managed-fields.ts";
import type { Writer } from "./writer.ts";

const ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration";

function writer(manager: string): Writer {
  return {
    manager,
    apiVersion: "v1",
    kind: "ConfigMap",
    subresource: "",
    now: "2026-11-15T05:00:00Z",
    versions: {
      findSchema: (apiVersion) => findKindSchema(apiVersion, "ConfigMap"),
      convert: (object) => object,
    },
  };
}

function map(data: JsonObject, annotations?: JsonObject): JsonObject {
  const metadata = { ...(annotations !== undefined && { annotations }), name: "c" };
  return { apiVersion: "v1", data, kind: "ConfigMap", metadata };
}

/** An object that kubectl applied by client-side apply. */
function applied(data: JsonObject, live: JsonObject = data): JsonObject {
  const last = `${JSON.stringify(map(data))}\n`;
  const next = map(live, { [ANNOTATION]: last });
  return trackUpdate({
    live: undefined,
    next,
    writer: writer("kubectl-client-side-apply"),
    sentManagedFields: undefined,
  });
}

function apply(live: JsonObject, config: JsonObject, manager = "kubectl"): JsonObject {
  return applyPatch({ live, config, writer: writer(manager), onConflict: "fail" }).object;
}

function lastApplied(object: JsonObject): unknown {
  return ((object.metadata as JsonObject).annotations as JsonObject)[ANNOTATION];
}

describe("server-side apply after client-side apply", () => {
  test("has no conflict on fields that kubectl applied, and updates the annotation", () => {
    const object = apply(applied({ k: "1" }), map({ k: "2 & more" }));

    expect(object.data).toEqual({ k: "2 & more" });
    expect(lastApplied(object)).toBe(
      '{"apiVersion":"v1","data":{"k":"2 \\u0026 more"},"kind":"ConfigMap","metadata":{"name":"c"}}\n',
    );
  });

  test("leaves annotations that are null out of the annotation", () => {
    const { metadata, ...config } = map({ k: "2" });
    const object = apply(applied({ k: "1" }), {
      ...config,
      metadata: { ...(metadata as JsonObject), annotations: null },
    });

    expect(lastApplied(object)).toBe(
      '{"apiVersion":"v1","data":{"k":"2"},"kind":"ConfigMap","metadata":{"name":"c"}}\n',
    );
  });

  test("has a conflict on fields changed since", () => {
    expect(() => apply(applied({ k: "1" }, { k: "changed" }), map({ k: "2" }))).toThrow(
      'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using v1: .data.k',
    );
  });

  test("has conflicts for other managers, which keep the annotation as it is", () => {
    const live = applied({ k: "1" });

    expect(() => apply(live, map({ k: "2" }), "other")).toThrow("1 conflict");
    expect(lastApplied(apply(live, map({ l: "2" }), "other"))).toBe(lastApplied(live));
  });

  test("changes nothing when it states the same fields", () => {
    const once = apply(applied({ k: "1" }), map({ k: "1" }));

    expect(apply(once, map({ k: "1" }))).toBe(once);
  });

  test("drops an annotation that would be too long", () => {
    const object = apply(applied({ k: "1" }), map({ k: "x".repeat(256 * 1024) }));

    expect(lastApplied(object)).toBeUndefined();
  });

  test("ignores an invalid annotation", () => {
    const live = applied({ k: "1" });
    const { metadata } = live as { metadata: JsonObject };
    const spoilt = { ...live, metadata: { ...metadata, annotations: { [ANNOTATION]: "{" } } };

    expect(() => apply(spoilt, map({ k: "2" }))).toThrow("1 conflict");
  });
});
