import { describe, expect, test } from "vitest";
import type { ApiObject } from "../../api/api-object.ts";
import { isApplied } from "./applied-fields.ts";

const FIELDS = {
  "f:metadata": {
    "f:labels": { "f:app": {} },
    "f:ownerReferences": { 'k:{"uid":"u"}': {} },
    "f:finalizers": { 'v:"example.com/x"': {} },
  },
  "f:spec": {
    "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:port": {}, "f:targetPort": {} } },
    "f:selector": {},
  },
};

const OWNER = { apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "u" };

const LIVE = {
  apiVersion: "v1",
  kind: "Service",
  metadata: {
    name: "a",
    namespace: "default",
    labels: { app: "x", other: "y" },
    ownerReferences: [OWNER],
    finalizers: ["other.example/y", "example.com/x"],
    managedFields: [
      { manager: "ours", operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: FIELDS },
    ],
  },
  spec: {
    clusterIP: "10.0.0.1",
    ports: [{ port: 80, protocol: "TCP", targetPort: 8080 }],
    selector: { app: "x" },
  },
} as ApiObject;

function declared(spec: object = {}, labels: object = { app: "x" }): Record<string, unknown> {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      name: "a",
      namespace: "default",
      labels,
      ownerReferences: [OWNER],
      finalizers: ["example.com/x"],
    },
    spec: { ports: [{ port: 80, targetPort: 8080 }], selector: { app: "x" }, ...spec },
  };
}

describe("carries", () => {
  test("is true whatever other managers have added", () => {
    expect(isApplied(LIVE, declared(), "ours")).toBe(true);
  });

  test.each([
    ["a value differs", declared({ selector: { app: "z" } })],
    ["a value of a list item differs", declared({ ports: [{ port: 80, targetPort: 1 }] })],
    ["a list item is new", declared({ ports: [{ port: 80, targetPort: 8080 }, { port: 81 }] })],
    ["a list item is gone", declared({ ports: [] })],
    ["a field is new", declared({ type: "ClusterIP" })],
    ["a field is no longer declared", declared({ selector: undefined })],
    ["a label is no longer declared", declared({}, {})],
    ["the version is another one", { ...declared(), apiVersion: "v2" }],
  ])("is false when %s", (_why, manifest) => {
    expect(isApplied(LIVE, manifest, "ours")).toBe(false);
  });

  test("is false when another manager applied the object, and without managed fields", () => {
    const { managedFields: _, ...metadata } = LIVE.metadata;

    expect(isApplied(LIVE, declared(), "theirs")).toBe(false);
    expect(isApplied({ ...LIVE, metadata }, declared(), "ours")).toBe(false);
  });
});

test("comparing a list of 2,000 items with its record takes linear time", () => {
  const ports = Array.from({ length: 2000 }, (_, at) => ({ port: at + 1, protocol: "TCP" }));
  const recorded = ports.map((port) => [
    `k:${JSON.stringify(port)}`,
    { ".": {}, "f:port": {}, "f:protocol": {} },
  ]);
  const fieldsV1 = { "f:spec": { "f:ports": Object.fromEntries(recorded) as object } };
  const entry = { manager: "ours", operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1 };
  const metadata = { name: "a", managedFields: [entry] };
  const live = { apiVersion: "v1", kind: "Service", metadata, spec: { ports } } as ApiObject;
  const before = process.cpuUsage();

  const isCarried = isApplied(live, { apiVersion: "v1", kind: "Service", spec: { ports } }, "ours");

  expect([isCarried, process.cpuUsage(before).user / 1000 < 1500]).toEqual([true, true]);
});
