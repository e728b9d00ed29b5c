import { describe, expect, test } from "vitest";
import type { JsonObject } from "../json/json-object.ts";
import { builtInStruct } from "../schema/built-in-schema.ts";
import { applyStrategicMergePatch } from "./strategic-merge-patch.ts";

const POD_SPEC = builtInStruct("core.v1.PodSpec");
const CONTAINER = builtInStruct("core.v1.Container");
const OBJECT_META = builtInStruct("meta.v1.ObjectMeta");
const SERVICE_SPEC = builtInStruct("core.v1.ServiceSpec");
const DEPLOYMENT_SPEC = builtInStruct("apps.v1.DeploymentSpec");

function containers(...names: readonly string[]): JsonObject {
  return { containers: names.map((name) => ({ name, image: `${name}:1` })) };
}

function names(spec: JsonObject, list = "containers"): readonly unknown[] {
  return (spec[list] as readonly JsonObject[]).map(({ name }) => name);
}

describe("lists of maps", () => {
  test("items merge by their key", () => {
    const patched = applyStrategicMergePatch(
      containers("a", "b"),
      { containers: [{ name: "b", image: "b:2", tty: true }] },
      POD_SPEC,
    );

    expect(patched).toEqual({
      containers: [
        { name: "a", image: "a:1" },
        { name: "b", image: "b:2", tty: true },
      ],
    });
  });

  test.each([
    ["a new item without a common item comes first", ["a", "b"], ["x"], ["x", "a", "b"]],
    ["a new item after a known one stays after it", ["a", "b"], ["b", "x"], ["a", "b", "x"]],
    ["known items take the patch's order", ["a", "b", "c"], ["c", "a"], ["b", "c", "a"]],
    [
      "others keep their places before known ones",
      ["a", "b", "c", "d"],
      ["d", "x", "b"],
      ["a", "c", "d", "x", "b"],
    ],
  ])("%s", (_name, live, ...[patch, expected]) => {
    const patched = applyStrategicMergePatch(
      containers(...live),
      { containers: patch.map((name) => ({ name })) },
      POD_SPEC,
    );

    expect(names(patched)).toEqual(expected);
  });

  test("$setElementOrder orders all items, and unlisted live items keep their places", () => {
    const patch = {
      "$setElementOrder/containers": [{ name: "c" }, { name: "x" }, { name: "a" }],
      containers: [{ name: "x", image: "x:1" }],
    };

    const patched = applyStrategicMergePatch(containers("a", "b", "c"), patch, POD_SPEC);

    expect(names(patched)).toEqual(["b", "c", "x", "a"]);
    expect(Object.keys(patched)).toEqual(["containers"]);
  });

  test("$setElementOrder puts a new item in a deleted item's room after unlisted live items", () => {
    const patch = {
      "$setElementOrder/containers": [{ name: "x" }, { name: "y" }],
      containers: [{ name: "x" }, { name: "y" }, { $patch: "delete", name: "a" }],
    };

    expect(names(applyStrategicMergePatch(containers("a", "b"), patch, POD_SPEC))).toEqual(["b", "x", "y"]);
    const without = { ...patch, containers: patch.containers.slice(0, 2) };
    expect(names(applyStrategicMergePatch(containers("a", "b"), without, POD_SPEC))).toEqual([
      "x",
      "y",
      "a",
      "b",
    ]);
  });

  test("$setElementOrder alone only orders", () => {
    const patch = { "$setElementOrder/containers": [{ name: "b" }, { name: "a" }] };

    expect(names(applyStrategicMergePatch(containers("a", "b"), patch, POD_SPEC))).toEqual(["b", "a"]);
    expect(applyStrategicMergePatch({}, patch, POD_SPEC)).toEqual({});
  });

  test("$patch: delete removes an item, and adds nothing to a missing list", () => {
    const patch = { containers: [{ name: "a", $patch: "delete" }] };

    expect(names(applyStrategicMergePatch(containers("a", "b"), patch, POD_SPEC))).toEqual(["b"]);
    expect(applyStrategicMergePatch({}, patch, POD_SPEC)).toEqual({ containers: [] });
  });

  test("a patch from kubectl orders, changes, adds and deletes at once", () => {
    const patch = {
      "$setElementOrder/containers": [{ name: "new" }, { name: "b" }],
      containers: [
        { name: "new", image: "n:1" },
        { name: "b", image: "b:2" },
        { name: "a", $patch: "delete" },
      ],
    };

    expect(applyStrategicMergePatch(containers("a", "b"), patch, POD_SPEC)).toEqual({
      containers: [
        { name: "new", image: "n:1" },
        { name: "b", image: "b:2" },
      ],
    });
  });

  test("$patch: replace in a list replaces it", () => {
    const patch = { containers: [{ $patch: "replace" }, { name: "z", image: "z:1" }] };

    expect(applyStrategicMergePatch(containers("a", "b"), patch, POD_SPEC)).toEqual(containers("z"));
  });

  test("lists in items merge too", () => {
    const live = {
      name: "a",
      ports: [{ containerPort: 80, name: "http" }],
      env: [{ name: "X", value: "1" }],
    };
    const patch = {
      ports: [{ containerPort: 80, hostPort: 8080 }],
      env: [{ name: "X", value: null }, { name: "Y" }],
    };

    expect(applyStrategicMergePatch(live, patch, CONTAINER)).toEqual({
      name: "a",
      ports: [{ containerPort: 80, name: "http", hostPort: 8080 }],
      env: [{ name: "X" }, { name: "Y" }],
    });
  });

  test("a patch merges into the first of two items with one key, and both stay", () => {
    const live = { ports: [{ port: 53, protocol: "UDP" }, { port: 53, protocol: "TCP" }, { port: 80 }] };

    expect(applyStrategicMergePatch(live, { ports: [{ port: 53, nodePort: 30053 }] }, SERVICE_SPEC)).toEqual({
      ports: [{ port: 53, protocol: "UDP", nodePort: 30053 }, { port: 53, protocol: "TCP" }, { port: 80 }],
    });
  });

  test("a list without merge strategy is replaced", () => {
    const live = { tolerations: [{ key: "a" }], containers: [] };

    expect(applyStrategicMergePatch(live, { tolerations: [{ key: "b" }] }, POD_SPEC)).toEqual({
      tolerations: [{ key: "b" }],
      containers: [],
    });
  });
});

describe("lists of scalars", () => {
  test("merge without duplicates", () => {
    const live = { finalizers: ["a", "b"] };

    expect(applyStrategicMergePatch(live, { finalizers: ["c", "a"] }, OBJECT_META)).toEqual({
      finalizers: ["c", "a", "b"],
    });
  });

  test("$deleteFromPrimitiveList removes, $setElementOrder orders", () => {
    const live = { finalizers: ["a", "b", "c"] };
    const patch = {
      "$deleteFromPrimitiveList/finalizers": ["b"],
      "$setElementOrder/finalizers": ["c", "d", "a"],
      finalizers: ["d"],
    };

    expect(applyStrategicMergePatch(live, patch, OBJECT_META)).toEqual({ finalizers: ["c", "d", "a"] });
    expect(
      applyStrategicMergePatch({}, { "$deleteFromPrimitiveList/finalizers": ["b"] }, OBJECT_META),
    ).toEqual({});
  });
});

describe("maps", () => {
  test("merge key by key, null removes", () => {
    const live = { labels: { a: "1", b: "2" } };

    expect(applyStrategicMergePatch(live, { labels: { a: null, c: "3" } }, OBJECT_META)).toEqual({
      labels: { b: "2", c: "3" },
    });
  });

  test("$patch replaces or empties", () => {
    const live = { labels: { a: "1" } };

    expect(applyStrategicMergePatch(live, { labels: { $patch: "replace", z: "1" } }, OBJECT_META)).toEqual({
      labels: { z: "1" },
    });
    expect(applyStrategicMergePatch(live, { labels: { $patch: "delete" } }, OBJECT_META)).toEqual({
      labels: {},
    });
    expect(applyStrategicMergePatch({}, { labels: { $patch: "delete" } }, OBJECT_META)).toEqual({});
  });

  test("$retainKeys leaves only the keys it names", () => {
    const live = { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1 } } };
    const patch = { strategy: { $retainKeys: ["type"], type: "Recreate" } };

    expect(applyStrategicMergePatch(live, patch, DEPLOYMENT_SPEC)).toEqual({
      strategy: { type: "Recreate" },
    });
  });

  test("new values lose their nulls", () => {
    expect(
      applyStrategicMergePatch({}, { strategy: { type: "x", rollingUpdate: null } }, DEPLOYMENT_SPEC),
    ).toEqual({
      strategy: { type: "x" },
    });
  });
});

describe("refusals", () => {
  test.each([
    [{ containers: [{ image: "x" }] }, "map: map[image:x] does not contain declared merge key: name"],
    [{ containers: [{ name: "a", $patch: "merge" }] }, "merging lists cannot yet be specified in the patch"],
    [{ containers: [{ name: "a", $patch: "x" }] }, 'unknown patch type in $patch: use "replace" or "delete"'],
    [{ $patch: "merge", a: 1 }, 'unknown patch type in $patch: use "replace" or "delete"'],
    [{ $retainKeys: "x" }, "invalid patch format of retainKeys"],
    [{ $retainKeys: [], nodeName: "x" }, "invalid patch format of retainKeys"],
    [
      { "$setElementOrder/containers": {} },
      "expected a []interface {}, but received a map[string]interface {}",
    ],
    [{ $setElementOrder: [] }, "invalid patch format of setElementOrder list"],
    [{ $deleteFromPrimitiveList: [] }, "invalid patch format of primitive list"],
    [{ containers: ["x"] }, "list element types are not identical"],
    [
      { "$setElementOrder/containers": [{ name: "a" }], containers: [{ name: "z" }] },
      "The order in patch list:\n[map[name:z]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
    ],
    [[], "json: cannot unmarshal array into Go value of type map[string]interface {}"],
  ])("%j", (patch, message) => {
    expect(() => applyStrategicMergePatch(containers("a"), patch, POD_SPEC)).toThrow(message);
  });
});

test("a patch of a thousand items in a thousand takes bounded time", () => {
  const list = (suffix: string): readonly object[] =>
    Array.from({ length: 20_000 }, (_, at) => ({ name: `c${at}`, image: suffix }));

  const patched = applyStrategicMergePatch({ containers: list("1") }, { containers: list("2") }, POD_SPEC);

  expect(patched).toEqual({ containers: list("2") });
});
