import { describe, expect, test } from "vitest";
import type { Event } from "../../api/generated/types/core-v1.ts";
import type { LoopFigures } from "../../insight/loops/loop-figures.ts";
import { drawLoops } from "./draw-loops.ts";
import { NO_READING, type LoopsReading } from "./loops-reading.ts";

function loopOf(controller: string, figures: Partial<LoopFigures> = {}): LoopFigures {
  return {
    ...{ controller, queued: 0, inWork: 0, delayed: 0, passesPerSecond: 0, errorsPerSecond: 0 },
    ...{ p99Seconds: undefined, hotLoops: 0, oldestSeconds: 0 },
    ...figures,
  };
}

const READING: LoopsReading = {
  loops: [
    loopOf("web", {
      queued: 3,
      passesPerSecond: 12.5,
      errorsPerSecond: 1,
      p99Seconds: 0.1,
      delayed: 2,
      hotLoops: 1,
    }),
    loopOf("job-controller"),
  ],
  fights: [
    {
      involvedObject: { kind: "ConfigMap", namespace: "default", name: "valve" },
      message: "opener and shutter set data.position back and forth",
      count: 4,
    } as Event,
  ],
  trouble: undefined,
};

/** At nine rows. */
function textOf(columns: number, reading = READING, firstRow = 0): string {
  return drawLoops(
    { columns, rows: 9 },
    { reading, firstRow, history: new Map([["web", [0, 5, 10]]]) },
  ).text();
}

describe("the screen of top loops", () => {
  test("has a row for each controller, its latest passes, and the fights with their writers", () => {
    expect(textOf(130)).toMatchInlineSnapshot(`
      "● loops  2 controllers  12.5 passes/s  1.0 errors/s
      CONTROLLER                               QUEUE  IN WORK  BACK-OFF  PASSES/S  ERRORS/S        P99   OLDEST  HOT
      web                                          3        0         2      12.5       1.0   ≤ 100 ms    0.0 s    1               ▁▅█
      job-controller                               0        0         0       0.0       0.0          -    0.0 s    0


      ── loops that do not settle ──────────────────────────────────────────────────────────────────────────────────────────────────────
       ConfigMap default/valve: opener and shutter set data.position back and forth (×4)
       q quit  ↑ ↓ scroll  setpoint why KIND/NAME explains an object
      "
    `);
  });

  test("leaves out the last figures where it is narrow", () => {
    expect(textOf(60)).toMatchInlineSnapshot(`
      "● loops  2 controllers  12.5 passes/s  1.0 errors/s
      CONTROLLER            QUEUE  IN WORK  BACK-OFF  PASSES/S
      web                       3        0         2      12.5
      job-controller            0        0         0       0.0

      ── loops that do not settle ────────────────────────────────
       ConfigMap default/valve: opener and shutter set
         data.position back and forth (×4)
       q quit  ↑ ↓ scroll  setpoint why KIND/NAME explains an obje
      "
    `);
  });

  test("scrolls", () => {
    expect(textOf(100, READING, 1)).not.toContain("web ");
    expect(textOf(100, READING, 1)).toContain("job-controller");
  });

  test("says that it waits, and why figures are old", () => {
    expect(textOf(80, NO_READING)).toContain("reading the metrics …");
    expect(textOf(80, { ...READING, trouble: "connection refused" })).toContain(
      "trying again: connection refused",
    );
  });
});
