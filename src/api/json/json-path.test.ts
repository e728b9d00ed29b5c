import { describe, expect, test } from "vitest";
import { findFieldNames, findJsonPath, valuesAt } from "./json-path.ts";

const object = {
  metadata: { labels: { "a.b/c": "x" } },
  spec: {
    replicas: 3,
    ports: [
      { name: "web", port: 80 },
      { name: "dns", port: 53 },
    ],
  },
  status: {
    conditions: [
      { type: "Ready", status: "True" },
      { type: "Old", status: "False" },
    ],
  },
};

function found(text: string): readonly unknown[] | undefined {
  const path = findJsonPath(text);
  return path === undefined ? undefined : valuesAt(path, object);
}

describe("JSONPath", () => {
  test.each([
    [".spec.replicas", [3]],
    ["{.spec.replicas}", [3]],
    ["$.spec.replicas", [3]],
    [".spec.ports[0].port", [80]],
    [".spec.ports[-1].port", [53]],
    [".spec.ports[*].name", ["web", "dns"]],
    [".spec.ports[0:1].name", ["web"]],
    [".spec.ports[?(@.port<80)].name", ["dns"]],
    ['.status.conditions[?(@.type=="Ready")].status', ["True"]],
    [".status.conditions[?(@.type=='Old')].status", ["False"]],
    [".metadata.labels.a\\.b/c", ["x"]],
    [".metadata.labels['a\\.b/c']", ["x"]],
    ["..name", ["web", "dns"]],
    [".spec.missing.deeper", []],
    [".constructor", []],
    [".", [object]],
  ])("%s", (text, values) => {
    expect(found(text)).toEqual(values);
  });

  test.each(["spec", ".spec[", ".spec[?(@.a==]", ".a b", ".a[b]"])("%s is not a path", (text) => {
    expect(found(text)).toBeUndefined();
  });

  test("findFieldNames returns the names of a path of plain fields", () => {
    expect(findFieldNames(".spec.replicas")).toEqual(["spec", "replicas"]);
    expect(findFieldNames(".spec.list[0]")).toBeUndefined();
  });
});
