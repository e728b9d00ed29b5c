import { expect, test } from "vitest";
import type { Job } from "../../api/generated/types/batch-v1.ts";
import { endedStatus } from "./job-status.ts";
import { observe } from "./observation.ts";

const STARTED = "2026-01-01T00:01:00Z";
const JOB: Job = {
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "work", uid: "job", resourceVersion: "1", creationTimestamp: STARTED },
  spec: { template: { metadata: {}, spec: { containers: [] } } },
  status: { startTime: STARTED, succeeded: 1 },
};

function completedAt(now: string): string | undefined {
  const outcome = { type: "SuccessCriteriaMet", reason: "CompletionsReached", message: "done" } as const;
  const counts = { succeeded: 1, failed: 0, uncounted: { succeeded: [], failed: [] } };
  const seen = observe(JOB, [], Date.parse(now));
  return endedStatus({ seen, outcome, counts, active: [], terminating: 0 }, outcome).completionTime;
}

test("a Job's completionTime is now, but never before its startTime", () => {
  expect(completedAt("2026-01-01T00:02:00Z")).toBe("2026-01-01T00:02:00Z");
  expect(completedAt("2026-01-01T00:00:30Z")).toBe(STARTED);
});
