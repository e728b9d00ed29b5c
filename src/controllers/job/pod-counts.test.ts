import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Job, JobStatus } from "../../api/generated/types/batch-v1.ts";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { TRACKING } from "./job-pods.ts";
import { observe } from "./observation.ts";
import { countReleased, planPodCounts, uidsOf } from "./pod-counts.ts";
import type { PodCounts } from "./pod-counts.ts";

const STAMP = "2026-01-01T00:00:00Z";

function jobWith(status: JobStatus): Job {
  const metadata = { name: "work", uid: "job", resourceVersion: "1", creationTimestamp: STAMP };
  const template = { metadata: {}, spec: { containers: [] } };
  return { apiVersion: "batch/v1", kind: "Job", metadata, spec: { template, completions: 9999 }, status };
}

function podOf(name: string, phase: "Failed" | "Running" | "Succeeded"): Pod {
  const stamps = { resourceVersion: "1", creationTimestamp: STAMP };
  const metadata = { name, uid: name, ...stamps, finalizers: [TRACKING] };
  return { apiVersion: "v1", kind: "Pod", metadata, spec: { containers: [] }, status: { phase } };
}

function released(pod: Pod): Pod {
  return { ...pod, metadata: { ...pod.metadata, finalizers: [] } };
}

function statusOf({ succeeded, failed, uncounted }: PodCounts): JobStatus {
  return { succeeded, failed, uncountedTerminatedPods: uncounted };
}

/** Steps that a pass completes before its controller stops. */
type Reach = {
  readonly notes: boolean;
  readonly releases: number;
  readonly counts: boolean;
  readonly vanish: number;
};

class Fixture {
  status: JobStatus = {};
  pods: readonly Pod[];

  constructor(pods: readonly Pod[]) {
    this.pods = pods;
  }

  pass(reach: Reach): void {
    const plan = planPodCounts(observe(jobWith(this.status), this.pods, 0), undefined);
    if (!reach.notes) return;
    this.status = statusOf(plan.counts);
    const gone = new Set(plan.toRelease.slice(0, reach.releases));
    this.pods = this.pods.map((pod) => (gone.has(pod) ? released(pod) : pod));
    const left = this.pods.filter(({ metadata }) => metadata.finalizers?.includes(TRACKING));
    if (reach.counts) this.status = statusOf(countReleased(plan.counts, uidsOf(left)));
    // Pods without a finalizer that other clients delete.
    this.pods = this.pods.filter((pod, at) => left.includes(pod) || at % 3 >= reach.vanish);
  }
}

const reaches: fc.Arbitrary<Reach> = fc.record({
  notes: fc.boolean(),
  releases: fc.integer({ min: 0, max: 9 }),
  counts: fc.boolean(),
  vanish: fc.integer({ min: 0, max: 2 }),
});
const ALL: Reach = { notes: true, releases: Number.POSITIVE_INFINITY, counts: true, vanish: 0 };

describe("the counts of a Job", () => {
  test("are exact however often a pass stops half-way", () => {
    const phases = fc.array(fc.constantFrom("Failed" as const, "Running" as const, "Succeeded" as const), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(phases, fc.array(reaches, { maxLength: 12 }), (ends, stops) => {
        const fixture = new Fixture(ends.map((phase, at) => podOf(`pod-${String(at)}`, phase)));
        for (const reach of stops) fixture.pass(reach);
        for (let round = 0; round < 3; round++) fixture.pass(ALL);

        const count = (phase: string): number => ends.filter((each) => each === phase).length;
        expect(fixture.status).toEqual({
          succeeded: count("Succeeded"),
          failed: count("Failed"),
          uncountedTerminatedPods: { succeeded: [], failed: [] },
        });
      }),
    );
  });

  test("take at most 500 pods per pass, and all of them in the end", () => {
    const fixture = new Fixture(
      Array.from({ length: 1200 }, (_, at) => podOf(`pod-${String(at)}`, "Succeeded")),
    );

    const most: number[] = [];
    for (let round = 0; round < 6; round++) {
      // First a pass that stops before any release, then a complete one.
      fixture.pass({ ...ALL, releases: 0, counts: false });
      most.push(fixture.status.uncountedTerminatedPods?.succeeded?.length ?? 0);
      fixture.pass(ALL);
    }

    expect(Math.max(...most)).toBe(500);
    expect(fixture.status.succeeded).toBe(1200);
  });

  test("count pods stopped by a failing Job as failed, and pods stopped by a successful one not at all", () => {
    const seen = observe(jobWith({}), [podOf("a", "Running"), podOf("b", "Failed")], 0);
    const outcome = { reason: "", message: "" };

    const failing = planPodCounts(seen, { type: "FailureTarget", ...outcome });
    const succeeding = planPodCounts(seen, { type: "SuccessCriteriaMet", ...outcome });

    expect(failing.counts.uncounted.failed).toEqual(["a", "b"]);
    expect(succeeding.counts.uncounted.failed).toEqual(["b"]);
    expect(succeeding.toRelease).toHaveLength(2);
  });
});
