import { expect, test } from "vitest";
import { objectState } from "./object-state.ts";

const NOW = Date.parse("2026-01-31T12:00:00Z");
const AT = "2026-01-31T11:59:00Z";
const metadata = { name: "web", creationTimestamp: AT, generation: 1 };
const owned = {
  ...metadata,
  ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: "j", uid: "u", controller: true }],
};

const condition = (type: string) => [{ type, status: "True", lastTransitionTime: AT }];

test.each([
  [
    "a complete Job",
    "Job",
    "batch/v1",
    { status: { conditions: condition("Complete") } },
    "complete for 1 min",
    true,
  ],
  [
    "a failed Job",
    "Job",
    "batch/v1",
    { status: { conditions: condition("Failed") } },
    "failed for 1 min",
    false,
  ],
  [
    "a Job at work",
    "Job",
    "batch/v1",
    { spec: { completions: 3 }, status: { active: 1, ready: 1, succeeded: 2, startTime: AT } },
    "2 of 3 completed, 1 active for 1 min",
    true,
  ],
  [
    "a Job whose pod waits",
    "Job",
    "batch/v1",
    { spec: { completions: 1 }, status: { active: 1, ready: 0, startTime: AT } },
    "0 of 1 completed, 1 active, waiting for 1 min",
    false,
  ],
  ["a suspended CronJob", "CronJob", "batch/v1", { spec: { suspend: true }, status: {} }, "suspended", true],
  [
    "a cordoned node",
    "Node",
    "v1",
    { spec: { unschedulable: true }, status: { conditions: condition("Ready") } },
    "cordoned, ready for 1 min",
    true,
  ],
  [
    "a load balancer that waits",
    "Service",
    "v1",
    { spec: { type: "LoadBalancer" }, status: {} },
    "without a load balancer, waiting for 1 min",
    false,
  ],
  [
    "an autoscaler without metrics",
    "HorizontalPodAutoscaler",
    "autoscaling/v2",
    {
      status: {
        conditions: [
          { type: "AbleToScale", status: "True" },
          { type: "ScalingActive", status: "False", reason: "NoMetrics", lastTransitionTime: AT },
        ],
      },
    },
    "ScalingActive is False (NoMetrics), waiting for 1 min",
    false,
  ],
])("the state of %s", (...[, kind, apiVersion, parts, text, isSettled]) => {
  const state = objectState({ apiVersion, kind, metadata, spec: {}, ...parts } as never, NOW);

  expect([state.text, state.isSettled]).toEqual([text, isSettled]);
});

test("a failed pod is as desired when a controller acts for it, and not alone", () => {
  const failed = (of: object) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: of,
    status: { phase: "Failed" },
  });

  expect(objectState(failed(owned) as never, NOW).isSettled).toBe(true);
  expect(objectState(failed(metadata) as never, NOW).isSettled).toBe(false);
});
