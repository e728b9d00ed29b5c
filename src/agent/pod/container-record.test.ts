import { describe, expect, test } from "vitest";
import {
  NEW_CONTAINER,
  beginPull,
  beginStart,
  restartAt,
  stepContainer,
  type ContainerRecord,
} from "./container-record.ts";

const MINUTE = 60_000;
const WEB = { name: "web", image: "web", resources: {} };
const probeStatus = () => "open" as const;

describe("a container's record", () => {
  test("waits longer after each crash, up to five minutes", () => {
    let record = NEW_CONTAINER;
    let now = 0;
    const waits: number[] = [];
    for (let run = 0; run < 9; run++) {
      record = ran(record, now, 1000);
      waits.push((restartAt(record) - now - 1000) / 1000);
      now = restartAt(record);
    }

    expect(waits).toEqual([0, 10, 20, 40, 80, 160, 300, 300, 300]);
  });

  test("resets the back-off after a run of more than ten minutes", () => {
    let record = ran(ran(ran(NEW_CONTAINER, 0, 1000), 1000, 1000), 12_000, 1000);
    expect(restartAt(record)).toBe(13_000 + 20_000);
    record = ran(record, 33_000, 11 * MINUTE);

    expect(restartAt(record)).toBe(33_000 + 11 * MINUTE);
  });

  test("counts a restart when the new run has begun", () => {
    const once = ran(NEW_CONTAINER, 0, 1000);
    expect(once.restartCount).toBe(0);
    expect(beginStart(once, WEB, 2000).restartCount).toBe(0);
    expect(ran(once, 2000, 1000)).toMatchObject({ restartCount: 1, exitBefore: { finishedAt: 1000 } });
  });

  test("ignores a report that does not fit its phase", () => {
    const idle = NEW_CONTAINER;

    expect(stepContainer(idle, { type: "exited", at: 5, exitCode: 0 }, { now: 5, probeStatus })).toBe(idle);
    expect(stepContainer(idle, { type: "pull-failed", message: "no" }, { now: 5, probeStatus })).toBe(idle);
  });

  test("delays the next pull, longer each time", () => {
    let record = NEW_CONTAINER;
    const waits: number[] = [];
    for (let now = 0; waits.length < 7;) {
      record = stepContainer(
        beginPull(record, "web"),
        { type: "pull-failed", message: "no" },
        { now, probeStatus },
      );
      const { phase } = record;
      const retryAt = phase.type === "unpullable" ? (phase.retryAt ?? 0) : 0;
      waits.push((retryAt - now) / 1000);
      now = retryAt;
    }

    expect(waits).toEqual([10, 20, 40, 80, 160, 300, 300]);
  });
});

function ran(record: ContainerRecord, now: number, forMs: number): ContainerRecord {
  const started = stepContainer(
    beginStart(record, WEB, now),
    { type: "started", id: "simulated://1", imageId: "", at: now },
    { now, probeStatus },
  );
  const at = now + forMs;
  return stepContainer(started, { type: "exited", at, exitCode: 1 }, { now: at, probeStatus });
}
