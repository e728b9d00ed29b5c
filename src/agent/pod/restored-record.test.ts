import { describe, expect, test } from "vitest";
import type { FoundContainer } from "../runtime-handler.ts";
import { NEW_CONTAINER, type ContainerRecord } from "./container-record.ts";
import { trueRecord } from "./restored-record.ts";

const NOW = 1_000_000;
const RUNNING: ContainerRecord = {
  ...NEW_CONTAINER,
  restartCount: 2,
  phase: {
    ...{ type: "running", id: "process://a", startedAt: 5, killAt: undefined },
    ...{ probes: { readiness: { result: "success", since: 6, before: "passes" } }, asked: new Set() },
  },
};
const FOUND: FoundContainer = {
  ...{ name: "web", id: "process://a", imageId: "i", attempt: 2, startedAt: 5, exit: undefined },
};

describe("a container after a restart of the agent", () => {
  test("goes on as its status says when the runtime agrees", () => {
    expect(trueRecord(RUNNING, FOUND, NOW)).toBe(RUNNING);
  });

  test("has ended when the runtime knows of its end", () => {
    const found = { ...FOUND, exit: { at: 900, exitCode: 3 } };

    expect(trueRecord(RUNNING, found, NOW)).toMatchObject({
      phase: { type: "exited" },
      exit: { id: "process://a", startedAt: 5, finishedAt: 900, exitCode: 3, reason: "Error" },
      restartCount: 2,
    });
  });

  test("runs when the runtime has started it again, and counts that", () => {
    const found = { ...FOUND, id: "process://b", attempt: 3, startedAt: 950 };

    expect(trueRecord(RUNNING, found, NOW)).toMatchObject({
      phase: { type: "running", id: "process://b", startedAt: 950, probes: {} },
      restartCount: 3,
    });
  });

  test("runs when its first start never reached the API", () => {
    expect(trueRecord(NEW_CONTAINER, { ...FOUND, attempt: 0 }, NOW)).toMatchObject({
      phase: { type: "running", id: "process://a" },
      imageId: "i",
    });
  });

  test("is lost when the runtime has no trace of it", () => {
    expect(trueRecord(RUNNING, undefined, NOW)).toMatchObject({
      phase: { type: "exited" },
      exit: { exitCode: 137, reason: "ContainerStatusUnknown", finishedAt: NOW },
    });
    expect(trueRecord(NEW_CONTAINER, undefined, NOW)).toBe(NEW_CONTAINER);
  });
});
