import { beforeEach, describe, expect, test } from "vitest";
import type { ApiObject } from "../../api/api-object.ts";
import type { ObjectMeta, OwnerReference } from "../../api/generated/types/meta-v1.ts";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import type { ServedResource } from "../served-resources.ts";
import { OwnerGraph } from "./owner-graph.ts";

const MAPS: ServedResource = {
  apiVersion: "v1",
  group: "",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
  verbs: ["delete", "list", "watch"],
};
const FOREGROUND = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["foregroundDeletion"] };

let checks: string[] = [];
let misplaced: string[] = [];
let gone: string[] = [];
let graph: OwnerGraph;

beforeEach(() => {
  [checks, misplaced, gone] = [[], [], []];
  graph = new OwnerGraph({
    check: (uid) => checks.push(uid),
    gone: (uid) => gone.push(uid),
    misplaced: (node, { uid }) => misplaced.push(`${node.uid} -> ${uid}`),
  });
});

describe("the graph of owners", () => {
  test("reports no object while owners exist", () => {
    put("owner");
    put("dependent", ["owner"]);
    put("dependent", ["owner"], { labels: { a: "b" } });

    expect(checks).toEqual([]);
  });

  test("reports objects with an unknown owner", () => {
    put("dependent", ["owner"]);

    expect(checks).toEqual(["dependent"]);
  });

  test("reports the dependents of a deleted known owner", () => {
    put("owner");
    put("dependent", ["owner"]);
    graph.remove(object("owner"));

    expect([checks, gone]).toEqual([["dependent"], ["owner"]]);
  });

  test("reports owner and dependents once when the owner starts to wait", () => {
    put("owner");
    put("dependent", ["owner"]);
    put("owner", [], FOREGROUND);
    put("owner", [], { ...FOREGROUND, labels: { a: "b" } });

    expect(checks).toEqual(["owner", "dependent"]);
  });

  test.each([
    ["is deleted", () => graph.remove(object("dependent", ["owner"]))],
    ["drops its reference", () => put("dependent")],
    ["no longer blocks it", () => put("dependent", [{ ...reference("owner"), blockOwnerDeletion: false }])],
  ])("reports a waiting owner when a dependent %s", (_, change) => {
    put("owner", [], FOREGROUND);
    put("dependent", ["owner"]);
    checks = [];
    change();

    expect(checks).toContain("owner");
  });

  test("reports owners of other namespaces, in either order of arrival", () => {
    put("owner", [], { namespace: "far" });
    put("dependent", ["owner"]);
    put("early", ["late"]);
    put("late", [], { namespace: "far" });

    expect(misplaced).toEqual(["dependent -> owner", "early -> late"]);
    expect(checks).toEqual(expect.arrayContaining(["dependent", "early"]));
  });

  test("reports references whose name or kind differs from the owner's", () => {
    put("owner");
    put("wrong-name", [{ ...reference("owner"), name: "other" }]);
    put("wrong-kind", [{ ...reference("owner"), kind: "Secret" }]);

    expect(checks).toEqual(["wrong-name", "wrong-kind"]);
  });

  test("drops nodes without object and dependents", () => {
    put("dependent", ["owner", "second"]);
    put("owner");
    expect(graph.size).toBe(3);

    graph.forget(MAPS, object("owner"));
    expect(graph.size).toBe(3);

    put("dependent");
    graph.remove(object("dependent"));
    expect(graph.size).toBe(0);
  });

  test("handles an object with very many owners in linear time", () => {
    const loop = createRealLoop({ name: "test" });
    const owners = Array.from({ length: 20_000 }, (_, at) => `owner-${String(at)}`);
    put("dependent", owners);
    const startedAt = loop.elapsed();

    put("dependent", [...owners.slice(1), "other"]);

    expect(loop.elapsed() - startedAt).toBeLessThan(500);
    expect([graph.find("owner-0"), graph.find("other")?.dependents?.size]).toEqual([undefined, 1]);
    expect(graph.size).toBe(20_001);
  });
});

function put(
  uid: string,
  owners: readonly (string | OwnerReference)[] = [],
  metadata: ObjectMeta = {},
): void {
  graph.put(MAPS, object(uid, owners, metadata));
}

function object(
  uid: string,
  owners: readonly (string | OwnerReference)[] = [],
  metadata: ObjectMeta = {},
): ApiObject {
  const ownerReferences = owners.map((owner) => (typeof owner === "string" ? reference(owner) : owner));
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "default", name: uid, uid, ownerReferences, ...metadata },
  };
}

function reference(uid: string): OwnerReference {
  return { apiVersion: "v1", kind: "ConfigMap", name: uid, uid, blockOwnerDeletion: true };
}
