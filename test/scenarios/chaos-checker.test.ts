/** Faults that the checker of chaos runs reports, and upstream behaviour that it accepts. */
import { describe, expect, test } from "vitest";
import type { ApiObject } from "../../src/api/api-object.ts";
import { brokenCounts } from "./chaos/chaos-counts.ts";
import type { Change } from "./chaos/chaos-history.ts";
import { wrongWhenSettled } from "./chaos/chaos-settled.ts";

function object(kind: string, name: string, more: object = {}): ApiObject {
  const { metadata = {}, ...rest } = more as { metadata?: object };
  const whole = {
    kind,
    apiVersion: "v1",
    metadata: { name, namespace: "n", uid: name, ...metadata },
    ...rest,
  };
  return whole;
}

function pod(name: string, more: object = {}): ApiObject {
  return object("Pod", name, { spec: { containers: [] }, status: { phase: "Pending" }, ...more });
}

function quota(status: object): ApiObject {
  return object("ResourceQuota", "q", { spec: { hard: { pods: "1" } }, status });
}

/** Each object is a creation, or the next state of the same object. */
function history(...objects: readonly ApiObject[]): readonly Change[] {
  const newest = new Map<string, ApiObject>();
  return objects.map((after, at) => {
    const key = `${after.kind}/${after.metadata.name ?? ""}`;
    const before = newest.get(key);
    newest.set(key, after);
    return { revision: at + 1, at, key, kind: after.kind, before, after };
  });
}

describe("a quota", () => {
  const counted = quota({ hard: { pods: "1" }, used: { pods: "0" } });

  test("is exceeded by a pod that it has no room for", () => {
    const found = brokenCounts(history(quota({}), counted, pod("a"), pod("b")));

    expect(found).toEqual(["Pod/b exceeds pods of q: 2000 (revision 4)"]);
  });

  test("is not exceeded by what came before it was first counted", () => {
    const found = brokenCounts(history(quota({}), pod("a"), counted, pod("b")));

    expect(found).toEqual([]);
  });
});

describe("the failed pod of an index that is being deleted", () => {
  const owner = { apiVersion: "batch/v1", kind: "Job", name: "j", uid: "j", controller: true };
  const failed = pod("p", {
    metadata: {
      finalizers: ["batch.kubernetes.io/job-tracking"],
      ownerReferences: [owner],
      deletionTimestamp: "2020-01-01T00:00:00Z",
    },
    status: { phase: "Failed" },
  });
  const job = (suspend: boolean): ApiObject =>
    object("Job", "j", {
      spec: { suspend, parallelism: 0, backoffLimitPerIndex: 1, completionMode: "Indexed" },
      status: { ready: 0, terminating: 0 },
    });

  test("is held while its Job is suspended", () => {
    expect(wrongWhenSettled([job(true), failed])).toEqual([]);
  });

  test("lingers when its Job goes on", () => {
    expect(wrongWhenSettled([job(false), failed])).toEqual([
      "Pod n/p: is still there, held by batch.kubernetes.io/job-tracking",
    ]);
  });
});
