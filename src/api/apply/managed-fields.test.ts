import { describe, expect, test } from "vitest";
import type { JsonObject } from "../json/json-object.ts";
import { findKindSchema } from "../schema/built-in-schema.ts";
import { toNormalForm } from "../schema/normal-form.ts";
import { type StructSchema } from "../schema/schema.ts";
import { fieldSet } from "./fields/field-set.ts";
import { managedFieldsOf, trackUpdate } from "./managed-fields.ts";
import { managerName, type Versions, type Writer } from "./writer.ts";

const STATUS = fieldSet(["f:status"]);

function schemaFor(apiVersion: string, kind: string): StructSchema {
  const schema = findKindSchema(apiVersion, kind);
  if (schema === undefined) throw new Error(`${apiVersion} has no ${kind}`);
  return schema;
}

function versionsOf(kind: string): Versions {
  return {
    findSchema: (apiVersion) => findKindSchema(apiVersion, kind),
    convert: (object, apiVersion) => ({ ...object, apiVersion }),
  };
}

function writer(options: Partial<Writer> = {}): Writer {
  const kind = options.kind ?? "Deployment";
  return {
    manager: "kubectl-create",
    apiVersion: "apps/v1",
    kind,
    subresource: "",
    now: "2026-11-15T05:00:00Z",
    versions: versionsOf(kind),
    resetFields: STATUS,
    ...options,
  };
}

function deployment(spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } };
  const value = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "default", labels, ...metadata },
    spec: { replicas: 3, selector: { matchLabels: labels }, template, ...spec },
  };
  return toNormalForm(schemaFor("apps/v1", "Deployment"), value).value;
}

/** The object with part of its spec changed and its managed fields kept. */
function changed(object: JsonObject, spec: JsonObject): JsonObject {
  return { ...object, spec: { ...(object.spec as JsonObject), ...spec } };
}

function created(options: Partial<Writer> = {}): JsonObject {
  return trackUpdate({ live: undefined, next: deployment(), writer: writer(options) });
}

function entries(object: JsonObject): readonly JsonObject[] {
  return (managedFieldsOf(object) ?? []) as readonly JsonObject[];
}

describe("create", () => {
  test("the creator owns the fields it set, as upstream records it", () => {
    expect(entries(created())).toEqual([
      {
        apiVersion: "apps/v1",
        fieldsType: "FieldsV1",
        fieldsV1: {
          "f:metadata": { "f:labels": { ".": {}, "f:app": {} } },
          "f:spec": {
            "f:replicas": {},
            "f:selector": {},
            "f:template": {
              "f:metadata": { "f:labels": { ".": {}, "f:app": {} } },
              "f:spec": {
                "f:containers": {
                  'k:{"name":"web"}': { ".": {}, "f:image": {}, "f:name": {}, "f:resources": {} },
                },
              },
            },
          },
        },
        manager: "kubectl-create",
        operation: "Update",
        time: "2026-11-15T05:00:00Z",
      },
    ]);
  });

  test("metadata keeps its keys in order", () => {
    expect(Object.keys(created().metadata as JsonObject)).toEqual([
      "labels",
      "managedFields",
      "name",
      "namespace",
    ]);
  });

  test("status is reset on the main endpoint and so not owned", () => {
    const next = { ...deployment(), status: { replicas: 3 } };

    const stored = trackUpdate({ live: undefined, next, writer: writer() });

    expect(Object.keys(entries(stored)[0]?.fieldsV1 as object)).toEqual(["f:metadata", "f:spec"]);
  });

  test("a writer without a name is recorded as unknown", () => {
    expect(entries(created({ manager: "" }))[0]?.manager).toBe("unknown");
  });
});

describe("update", () => {
  test("changed fields move to the writer, and the time of their old owner stays", () => {
    const live = created();
    const next = changed(live, { replicas: 5 });

    const [first, second] = entries(
      trackUpdate({ live, next, writer: writer({ manager: "scaler", now: "2026-11-15T06:00:00Z" }) }),
    );

    expect(first).toMatchObject({ manager: "kubectl-create", time: "2026-11-15T05:00:00Z" });
    expect(first).not.toHaveProperty(["fieldsV1", "f:spec", "f:replicas"]);
    expect(second).toMatchObject({
      manager: "scaler",
      time: "2026-11-15T06:00:00Z",
      fieldsV1: { "f:spec": { "f:replicas": {} } },
    });
  });

  test("a write without changes keeps the entries, even if the client sends back a copy", () => {
    const live = created();
    const next = structuredClone(live);

    const stored = trackUpdate({
      live,
      next,
      writer: writer({ manager: "other", now: "2027-01-01T00:00:00Z" }),
    });

    expect(stored).toEqual(live);
    expect(managedFieldsOf(stored)).toBe(managedFieldsOf(live));
  });

  test("removed fields have no owner, and an entry without fields is dropped", () => {
    const live = created();
    const scaled = trackUpdate({
      live,
      next: changed(live, { paused: true }),
      writer: writer({ manager: "b" }),
    });
    const { paused: _, ...spec } = scaled.spec as JsonObject;

    const stored = trackUpdate({ live: scaled, next: { ...scaled, spec }, writer: writer({ manager: "c" }) });

    expect(entries(stored).map(({ manager }) => manager)).toEqual(["kubectl-create"]);
  });

  test("a field that its owner removes has no owner, even if the owner writes another field", () => {
    const live = created();
    const { paused: _, ...spec } = changed(live, { paused: true, replicas: 4 }).spec as JsonObject;
    const paused = trackUpdate({ live, next: changed(live, { paused: true }), writer: writer() });

    const stored = trackUpdate({ live: paused, next: { ...paused, spec }, writer: writer() });

    expect(entries(stored)[0]?.fieldsV1).toHaveProperty(["f:spec", "f:replicas"]);
    expect(entries(stored)[0]?.fieldsV1).not.toHaveProperty(["f:spec", "f:paused"]);
  });

  test("a writer that writes its own fields again updates only the time", () => {
    const live = created();
    const next = changed(live, { replicas: 5 });

    const again = trackUpdate({ live, next, writer: writer() });
    const later = trackUpdate({ live, next, writer: writer({ now: "2026-11-15T06:00:00Z" }) });

    expect(managedFieldsOf(again)).toBe(managedFieldsOf(live));
    expect(entries(later)).toEqual([{ ...entries(live)[0], time: "2026-11-15T06:00:00Z" }]);
    expect(entries(later)[0]?.fieldsV1).toBe(entries(live)[0]?.fieldsV1);
  });

  test("entries are sorted by operation, time and manager; a subresource has its own entry", () => {
    const live = created({ now: "2026-11-15T09:00:00Z" });
    const next = { ...live, status: { readyReplicas: 1 } };
    const status = {
      subresource: "status",
      resetFields: fieldSet(["f:metadata"], ["f:spec"]),
      manager: "kubectl-create",
    };

    const stored = trackUpdate({ live, next, writer: writer({ ...status, now: "2026-11-15T08:00:00Z" }) });

    expect(entries(stored).map(({ subresource, time }) => [subresource, time])).toEqual([
      ["status", "2026-11-15T08:00:00Z"],
      [undefined, "2026-11-15T09:00:00Z"],
    ]);
    expect(entries(stored)[0]?.fieldsV1).toEqual({ "f:status": { "f:readyReplicas": {} } });
  });

  test("a write through scale owns spec.replicas under that subresource", () => {
    const live = created();
    const scale = writer({ manager: "kubectl", subresource: "scale" });

    const stored = trackUpdate({ live, next: changed(live, { replicas: 9 }), writer: scale });

    expect(entries(stored)).toContainEqual({
      apiVersion: "apps/v1",
      fieldsType: "FieldsV1",
      fieldsV1: { "f:spec": { "f:replicas": {} } },
      manager: "kubectl",
      operation: "Update",
      subresource: "scale",
      time: "2026-11-15T05:00:00Z",
    });
  });

  test("metadata fields that the server sets have no owner", () => {
    const live = created();
    const metadata = {
      ...(live.metadata as JsonObject),
      uid: "u",
      generation: 2,
      creationTimestamp: "2026-11-15T05:00:00Z",
    };

    const stored = trackUpdate({ live, next: { ...live, metadata }, writer: writer({ manager: "x" }) });

    expect(managedFieldsOf(stored)).toBe(managedFieldsOf(live));
  });
});

describe("managedFields sent by the client", () => {
  test.each([[[{}]], [[]]])("%j clears the entries", (sent) => {
    const live = created();

    const stored = trackUpdate({ live, next: deployment(), writer: writer(), sentManagedFields: sent });

    expect(stored.metadata).not.toHaveProperty("managedFields");
  });

  test("cleared entries stay cleared until the next apply", () => {
    const live = deployment();

    const stored = trackUpdate({ live, next: changed(live, { replicas: 9 }), writer: writer() });

    expect(stored.metadata).not.toHaveProperty("managedFields");
  });

  test("absent, null or malformed entries keep the live ones", () => {
    const live = created();

    for (const sentManagedFields of [undefined, null, [{ manager: "x" }], [{ operation: "Update" }], "x"]) {
      const stored = trackUpdate({ live, next: deployment(), writer: writer(), sentManagedFields });
      expect(managedFieldsOf(stored)).toBe(managedFieldsOf(live));
    }
  });

  test("valid entries replace the live ones, in canonical form", () => {
    const live = created();
    const sent = [
      {
        manager: "mine",
        operation: "Apply",
        apiVersion: "apps/v1",
        fieldsType: "FieldsV1",
        fieldsV1: { "f:spec": { "f:replicas": {}, "f:paused": {} } },
      },
    ];

    const stored = trackUpdate({ live, next: deployment(), writer: writer(), sentManagedFields: sent });

    expect(JSON.stringify(managedFieldsOf(stored))).toBe(
      '[{"apiVersion":"apps/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:paused":{},"f:replicas":{}}},"manager":"mine","operation":"Apply"}]',
    );
  });

  test("a subresource cannot change them", () => {
    const live = created();
    const scale = writer({ subresource: "scale" });

    const stored = trackUpdate({ live, next: deployment(), writer: scale, sentManagedFields: [{}] });

    expect(managedFieldsOf(stored)).toBe(managedFieldsOf(live));
  });
});

describe("bounds", () => {
  test("beyond ten updates the oldest merge into ancient-changes, with the newest of their times", () => {
    let object = created({ manager: "m00" });
    for (let at = 1; at <= 12; at++) {
      const labels = { ...((object.metadata as JsonObject).labels as object), [`l${at}`]: "x" };
      const next = { ...object, metadata: { ...(object.metadata as JsonObject), labels } };
      const options = { manager: `m${at}`, now: `2026-11-15T05:${String(at).padStart(2, "0")}:00Z` };
      object = trackUpdate({ live: object, next, writer: writer(options) });
    }

    expect(entries(object)).toHaveLength(10);
    expect(entries(object)[0]).toMatchObject({ manager: "ancient-changes", time: "2026-11-15T05:03:00Z" });
    expect(entries(object)[0]?.fieldsV1).toMatchObject({
      "f:metadata": { "f:labels": { "f:l1": {}, "f:l2": {}, "f:l3": {} } },
      "f:spec": { "f:replicas": {} },
    });
  });
});

describe("versions", () => {
  test("an entry loses changed fields in its own version, and is dropped when that version is gone", () => {
    const live = trackUpdate({
      live: undefined,
      next: deployment(),
      writer: writer(),
      sentManagedFields: ["apps/v1beta1", "apps/v0"].map((apiVersion) => ({
        manager: apiVersion,
        operation: "Apply",
        apiVersion,
        fieldsType: "FieldsV1",
        fieldsV1: { "f:spec": { "f:replicas": {}, "f:paused": {} } },
      })),
    });
    const versions: Versions = {
      findSchema: (apiVersion) => (apiVersion === "apps/v0" ? undefined : schemaFor("apps/v1", "Deployment")),
      convert: (object, apiVersion) => ({ ...object, apiVersion }),
    };
    const old = {
      ...entries(live)[0],
      apiVersion: "apps/v1beta1",
      manager: "old",
      fieldsV1: { "f:spec": { "f:replicas": {}, "f:paused": {} } },
    };
    const gone = { ...old, apiVersion: "apps/v0", manager: "gone" };
    const both = { ...live, metadata: { ...(live.metadata as JsonObject), managedFields: [old, gone] } };

    const stored = trackUpdate({
      live: both,
      next: changed(both, { replicas: 4 }),
      writer: writer({ versions }),
    });

    expect(entries(stored).map(({ manager, apiVersion }) => [manager, apiVersion])).toEqual([
      ["kubectl-create", "apps/v1"],
      ["old", "apps/v1beta1"],
    ]);
    expect(entries(stored)[1]?.fieldsV1).toEqual({ "f:spec": { "f:paused": {} } });
  });
});

describe("managerName", () => {
  test.each([
    ["mine", "kubectl/v1.36", "mine"],
    ["", "kubectl/v1.36.0 (linux/amd64)", "kubectl"],
    ["", "Mozilla", "Mozilla"],
    ["", "a\u0000b\u200bc/1", "abc"],
    ["", "x".repeat(300), "x".repeat(128)],
    ["", "", ""],
  ])("%j and %j give %j", (fieldManager, userAgent, expected) => {
    expect(managerName(fieldManager, userAgent)).toBe(expected);
  });
});
