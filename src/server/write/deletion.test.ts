import { describe, expect, test } from "vitest";
import { kinds } from "../../resources/index.ts";
import type { ApiObject, KindRules } from "../../resources/rules/kind-rules.ts";
import { Registry, isStored } from "../objects/registry.ts";
import type { StoredResource } from "../objects/registry.ts";
import { planDeletion } from "./deletion.ts";

const registry = new Registry(kinds);
const NOW = Date.parse("2026-11-15T12:00:00Z");

function stored(group: string, resource: string): StoredResource {
  const found = registry.find({ group, version: "v1", resource });
  if (found === undefined || !isStored(found)) throw new Error(`${resource} is not stored`);
  return found;
}

const maps = stored("", "configmaps");
const pods = stored("", "pods");

function object(metadata: Partial<ApiObject["metadata"]>, rest: object = {}): ApiObject {
  return { apiVersion: "v1", kind: "X", metadata: { name: "a", ...metadata }, ...rest } as ApiObject;
}

const scheduled = object(
  {},
  { spec: { nodeName: "n", terminationGracePeriodSeconds: 30 }, status: { phase: "Running" } },
);
const asked = { graceSeconds: undefined, propagation: undefined, now: NOW };

describe("planDeletion", () => {
  test("removes an object without finalizers at once", () => {
    expect(planDeletion(object({}), maps, asked)).toEqual({ outcome: "remove" });
  });

  test("a grace period beyond the calendar ends in the year 9999, and a second request is accepted", () => {
    const graceSeconds = Number.MAX_SAFE_INTEGER;
    const first = planDeletion(scheduled, pods, { ...asked, graceSeconds });
    if (first.outcome !== "mark") throw new Error("a pod on a node is marked");

    expect(first.object.metadata).toMatchObject({
      deletionTimestamp: "9999-12-31T23:59:59Z",
      deletionGracePeriodSeconds: graceSeconds,
    });
    expect(planDeletion(first.object, pods, { ...asked, graceSeconds: 30 })).toMatchObject({
      outcome: "mark",
      object: { metadata: { deletionTimestamp: "2026-11-15T12:00:00Z", deletionGracePeriodSeconds: 1 } },
    });
  });

  test("a grace period beyond the number range is cut to the longest one", () => {
    const terminationGracePeriodSeconds = 2n ** 63n - 1n;
    const pod = object({}, { spec: { nodeName: "n", terminationGracePeriodSeconds }, status: {} });

    expect(planDeletion(pod, pods, asked)).toMatchObject({
      outcome: "mark",
      object: { metadata: { deletionGracePeriodSeconds: Number.MAX_SAFE_INTEGER } },
    });
  });

  test("marks an object with finalizers", () => {
    const plan = planDeletion(object({ finalizers: ["example.com/x"] }), maps, asked);

    expect(plan).toMatchObject({
      outcome: "mark",
      object: { metadata: { deletionTimestamp: "2026-11-15T12:00:00Z", deletionGracePeriodSeconds: 0 } },
    });
  });

  test.each([
    ["Foreground", ["foregroundDeletion"]],
    ["Orphan", ["orphan"]],
  ] as const)("%s adds a finalizer for the garbage collector", (propagation, finalizers) => {
    expect(planDeletion(object({}), maps, { ...asked, propagation })).toMatchObject({
      outcome: "mark",
      object: { metadata: { finalizers } },
    });
  });

  describe.each([
    ["", "replicationcontrollers"],
    ["batch", "jobs"],
  ])("dependents of %s %s", (group, resource) => {
    const kind = stored(group, resource);

    test("are orphaned by default", () => {
      expect(planDeletion(object({}), kind, asked)).toMatchObject({
        outcome: "mark",
        object: { metadata: { finalizers: ["orphan"] } },
      });
    });

    test("are deleted when the request asks for it", () => {
      expect(planDeletion(object({}), kind, { ...asked, propagation: "Background" })).toEqual({
        outcome: "remove",
      });
    });

    test("are deleted when a finalizer is present for that already", () => {
      const held = object({ finalizers: ["foregroundDeletion"] });

      expect(planDeletion(held, kind, asked)).toMatchObject({
        outcome: "mark",
        object: { metadata: { finalizers: ["foregroundDeletion"] } },
      });
    });
  });

  test("Background removes the finalizer of an earlier policy", () => {
    const held = object({
      finalizers: ["foregroundDeletion"],
      deletionTimestamp: "2026-11-15T11:00:00Z",
      deletionGracePeriodSeconds: 0,
    });

    expect(planDeletion(held, maps, { ...asked, propagation: "Background" })).toEqual({ outcome: "remove" });
  });

  test("a pod on a node gets its grace period", () => {
    expect(planDeletion(scheduled, pods, asked)).toMatchObject({
      outcome: "mark",
      object: { metadata: { deletionTimestamp: "2026-11-15T12:00:30Z", deletionGracePeriodSeconds: 30 } },
    });
  });

  test("a shorter grace period counts from the first request, a longer one is a no-op", () => {
    const marked = object(
      { deletionTimestamp: "2026-11-15T12:00:30Z", deletionGracePeriodSeconds: 30 },
      { spec: { nodeName: "n" }, status: { phase: "Running" } },
    );

    expect(planDeletion(marked, pods, { ...asked, graceSeconds: 10 })).toMatchObject({
      object: { metadata: { deletionTimestamp: "2026-11-15T12:00:10Z", deletionGracePeriodSeconds: 10 } },
    });
    expect(planDeletion(marked, pods, { ...asked, graceSeconds: 60 })).toEqual({ outcome: "unchanged" });
    expect(planDeletion(marked, pods, { ...asked, graceSeconds: 0 })).toMatchObject({
      outcome: "mark and remove",
      object: { metadata: { deletionTimestamp: "2026-11-15T12:00:00Z", deletionGracePeriodSeconds: 0 } },
    });
  });

  test("a shorter grace period does not end in the past", () => {
    const late = { ...asked, now: NOW + 20_000 };
    const marked = object(
      { deletionTimestamp: "2026-11-15T12:00:30Z", deletionGracePeriodSeconds: 30 },
      { spec: { nodeName: "n" }, status: { phase: "Running" } },
    );

    expect(planDeletion(marked, pods, { ...late, graceSeconds: 10 })).toMatchObject({
      outcome: "mark",
      object: { metadata: { deletionTimestamp: "2026-11-15T12:00:20Z", deletionGracePeriodSeconds: 1 } },
    });
    expect(planDeletion(marked, pods, { ...late, graceSeconds: 0 })).toMatchObject({
      outcome: "mark and remove",
      object: { metadata: { deletionTimestamp: "2026-11-15T12:00:20Z", deletionGracePeriodSeconds: 0 } },
    });
  });

  test("a pod that is removed at once is marked first, unless it was already", () => {
    const free = object({ generation: 1 }, { spec: {}, status: { phase: "Pending" } });
    const plan = planDeletion(free, pods, asked);

    expect(plan).toMatchObject({
      outcome: "mark and remove",
      object: { metadata: { deletionTimestamp: "2026-11-15T12:00:00Z", deletionGracePeriodSeconds: 0 } },
    });
    expect(planDeletion(plan.outcome === "mark and remove" ? plan.object : free, pods, asked)).toEqual({
      outcome: "remove",
    });
  });

  describe("while the grace period of an earlier request runs", () => {
    const going = (phase: string): ApiObject =>
      object(
        {
          finalizers: ["foregroundDeletion"],
          deletionTimestamp: "2026-11-15T12:01:00Z",
          deletionGracePeriodSeconds: 60,
        },
        { spec: { nodeName: "n", terminationGracePeriodSeconds: 30 }, status: { phase } },
      );

    test.each(["Running", "Failed"])("a %s pod keeps it when the next request asks for none", (phase) => {
      expect(planDeletion(going(phase), pods, asked)).toEqual({ outcome: "unchanged" });
    });

    test("a request for a shorter one shortens it, also when the pod has ended", () => {
      expect(planDeletion(going("Failed"), pods, { ...asked, graceSeconds: 10 })).toMatchObject({
        object: { metadata: { deletionTimestamp: "2026-11-15T12:00:10Z", deletionGracePeriodSeconds: 10 } },
      });
      expect(planDeletion(going("Running"), pods, { ...asked, graceSeconds: -1 })).toMatchObject({
        object: { metadata: { deletionGracePeriodSeconds: 1 } },
      });
    });

    test("the policy for dependents stays as the first request set it", () => {
      expect(planDeletion(going("Running"), pods, { ...asked, propagation: "Orphan" })).toEqual({
        outcome: "unchanged",
      });
    });
  });

  test("an expired grace period does not start again", () => {
    const held = object(
      {
        finalizers: ["example.com/x"],
        deletionTimestamp: "2026-11-15T11:00:00Z",
        deletionGracePeriodSeconds: 0,
      },
      { spec: { nodeName: "n", terminationGracePeriodSeconds: 30 }, status: { phase: "Running" } },
    );

    expect(planDeletion(held, pods, { ...asked, propagation: "Orphan" })).toMatchObject({
      object: {
        metadata: {
          finalizers: ["example.com/x", "orphan"],
          deletionTimestamp: "2026-11-15T11:00:00Z",
          deletionGracePeriodSeconds: 0,
        },
      },
    });
  });

  test.each(["", "events.k8s.io"])("events of group %j have no dependents to wait for", (group) => {
    const events = stored(group, "events");

    for (const propagation of ["Foreground", "Orphan"] as const) {
      expect(planDeletion(object({}), events, { ...asked, propagation })).toEqual({ outcome: "remove" });
    }
    expect(planDeletion(object({ finalizers: ["orphan"] }), events, asked)).toEqual({ outcome: "remove" });
  });

  test("the first request increments the generation of kinds that have one", () => {
    const deployments = stored("apps", "deployments");

    const plan = planDeletion(object({ generation: 3, finalizers: ["example.com/x"] }), deployments, asked);

    expect(plan).toMatchObject({ object: { metadata: { generation: 4 } } });
  });

  test("an object that its kind holds is only marked, and the mark is visible", () => {
    const rules: KindRules = {
      isHeld: () => true,
      markDeleted: (draft) => Object.assign(draft, { status: { phase: "Ending" } }),
    };

    expect(planDeletion(object({}), { ...maps, rules }, asked)).toMatchObject({
      outcome: "mark",
      object: { status: { phase: "Ending" } },
    });
  });

  test.each([
    ["", "namespaces", { spec: { finalizers: ["kubernetes"] }, status: {} }],
    ["apiextensions.k8s.io", "customresourcedefinitions", { spec: {}, status: { conditions: [] } }],
  ])(
    "the first request for %s %s sets only the timestamp, no grace period and no generation",
    (group, name, more) => {
      const kind = stored(group, name);

      const plan = planDeletion(object({ generation: 3 }, more), kind, asked);
      const metadata = plan.outcome === "mark" ? plan.object.metadata : {};

      expect(metadata).toMatchObject({ generation: 3, deletionTimestamp: expect.any(String) as string });
      expect(metadata).not.toHaveProperty("deletionGracePeriodSeconds");
      const again = object({ ...metadata }, more);
      expect(planDeletion(again, kind, asked)).toEqual({ outcome: "unchanged" });
    },
  );
});
