import { expect, test } from "vitest";
import type { Job } from "../api/generated/types/batch-v1.ts";
import { incomplete } from "../api/object-fixture.ts";
import { findDueTime } from "./ttl-after-finished.ts";

const TIME = "2026-01-01T00:00:00Z";
const AT = Date.parse(TIME);

test.each([
  { ttl: 60, type: "Complete", status: "True", due: AT + 60_000 },
  { ttl: 0, type: "Failed", status: "True", due: AT },
  { ttl: 60, type: "Complete", status: "False", due: undefined },
  { ttl: 60, type: "Suspended", status: "True", due: undefined },
  { ttl: undefined, type: "Complete", status: "True", due: undefined },
])("a job with ttl $ttl that is $type=$status is deleted at $due", ({ ttl, type, status, due }) => {
  const conditions = [{ type, status, lastTransitionTime: TIME }];
  const job = incomplete<Job>({
    metadata: {},
    spec: { ttlSecondsAfterFinished: ttl },
    status: { conditions },
  });

  expect(findDueTime(job)).toBe(due);
});
