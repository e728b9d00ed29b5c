import { stat } from "node:fs/promises";
import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createMetrics } from "../../metrics/prom-metrics.ts";
import { LANES, type Lane, type Loop } from "../loop.ts";
import { SteadyClock } from "../steady-clock.ts";
import { createRealLoop } from "./real-loop.ts";

function busy(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** Resolves when all steps posted to the lane before have run. */
function drained(loop: Loop, lane: Lane): Promise<void> {
  return new Promise((resolve) => loop.post(lane, resolve));
}

describe("posted steps on the real loop", () => {
  test("a step never runs synchronously", async () => {
    const loop = createRealLoop({ name: "test" });
    let ran = false;
    loop.post("health", () => void (ran = true));

    expect(ran).toBe(false);
    await drained(loop, "health");
    expect(ran).toBe(true);
  });

  test("lanes run in their order, and steps of one lane in the order posted", async () => {
    const loop = createRealLoop({ name: "test" });
    const order: string[] = [];
    for (const lane of LANES.toReversed()) {
      for (const n of [1, 2]) loop.post(lane, () => void order.push(`${lane}${n}`));
    }
    await drained(loop, "spare");

    // On a busy machine a turn may end before the second step of a lane.
    expect(order.filter((name) => name.endsWith("1"))).toEqual(LANES.map((lane) => `${lane}1`));
    for (const lane of LANES)
      expect(order.indexOf(`${lane}2`), lane).toBeGreaterThan(order.indexOf(`${lane}1`));
  });

  test("a lane that is never empty does not starve the lanes behind it", async () => {
    const loop = createRealLoop({ name: "test" });
    let isOver = false;
    const again = (): void => {
      if (!isOver) loop.post("health", again);
    };
    again();
    for (const lane of ["request", "loop", "background", "spare"] as const) {
      await new Promise<void>((resolve) => loop.post(lane, resolve));
    }
    isOver = true;
  });

  test("the spare lane gets a step at intervals while others are busy, and all time afterwards", async () => {
    const loop = createRealLoop({ name: "test" });
    const sparedAt: number[] = [];
    for (let i = 0; i < 100; i++) loop.post("spare", () => void sparedAt.push(performance.now()));
    const sparedWhileBusy = await new Promise<number>((resolve) => {
      const again = (): void => {
        busy(0.1);
        if (sparedAt.length < 2) loop.post("loop", again);
        else resolve(sparedAt.length);
      };
      loop.post("loop", again);
    });
    await drained(loop, "spare");

    const [first = 0, second = 0] = sparedAt;
    expect(sparedWhileBusy).toBe(2);
    // Ten turns of 5 ms, minus the error of the measurement.
    expect(second - first).toBeGreaterThan(40);
    expect(sparedAt).toHaveLength(100);
  });

  test("a step, and the microtasks it released, have the lane of the step", async () => {
    const loop = createRealLoop({ name: "test" });
    const found: Lane[] = [loop.lane];
    for (const lane of LANES) {
      loop.post(lane, async () => {
        found.push(loop.lane);
        await Promise.resolve();
        found.push(loop.lane);
      });
    }
    await drained(loop, "spare");
    await immediate();

    expect(found).toEqual(["request", ...LANES.flatMap((lane) => [lane, lane])]);
    expect(loop.lane).toBe("request");
  });

  test("immediates and responses of the operating system are handled while 50,000 steps wait", async () => {
    const loop = createRealLoop({ name: "test" });
    let left = 50_000;
    for (let i = 0; i < 50_000; i++) {
      loop.post("loop", () => {
        busy(0.005);
        left--;
      });
    }
    await immediate();
    const leftAtImmediate = left;
    await stat(".");
    const leftAtAnswer = left;
    await drained(loop, "loop");

    // A slice takes 5 ms and a step at least 5 µs. Steps are counted instead of time, which other processes
    // influence.
    expect(50_000 - leftAtImmediate).toBeLessThanOrEqual(2000);
    expect(leftAtAnswer).toBeGreaterThan(0);
    expect(left).toBe(0);
  });

  test("steps that each post the next one do not block sockets", async () => {
    const loop = createRealLoop({ name: "test" });
    let isOver = false;
    const again = async (): Promise<void> => {
      await Promise.resolve();
      if (!isOver) loop.post("request", again);
    };
    loop.post("request", again);
    await sleep(1);
    await immediate();
    isOver = true;
  });

  test("all microtasks of a step run before the next step", async () => {
    const loop = createRealLoop({ name: "test" });
    const order: string[] = [];
    for (const name of ["a", "b", "c"]) {
      loop.post("loop", async () => {
        order.push(`${name}1`);
        for (let hop = 0; hop < 10; hop++) await Promise.resolve();
        order.push(`${name}2`);
      });
    }
    await drained(loop, "loop");

    expect(order).toEqual(["a1", "a2", "b1", "b2", "c1", "c2"]);
  });
});

describe("failing and long steps on the real loop", () => {
  test("a step that throws or rejects reaches the handler with its actor, and the rest continues", async () => {
    const failures: [string, string][] = [];
    const root = createRealLoop({
      name: "test",
      onStepFailed: (error, actor) => failures.push([error instanceof Error ? error.message : "?", actor]),
    });
    root.child("a").post("loop", () => {
      throw new Error("at once");
    });
    root.child("b").post("loop", () => Promise.reject(new Error("later")));
    await drained(root, "loop");

    expect(failures).toEqual([
      ["at once", "test/a"],
      ["later", "test/b"],
    ]);
  });

  test("a step above 50 ms is counted and logged with its actor, also for the time of its continuation", async () => {
    const metrics = createMetrics();
    const warnings: unknown[] = [];
    const log = {
      debug() {},
      info() {},
      error() {},
      warn: (_: string, fields?: object) => void warnings.push(fields),
      with: () => log,
    };
    const root = createRealLoop({ name: "test", metrics, log });
    root.child("quick").post("loop", () => busy(1));
    root.child("slow").post("loop", () => busy(60));
    root.child("slow").post("loop", async () => {
      await Promise.resolve();
      busy(60);
    });
    await drained(root, "loop");
    await immediate();

    expect(await metrics.expose()).toContain('setpoint_loop_long_steps_total{actor="test/slow"} 2');
    expect(warnings).toMatchObject([{ actor: "test/slow" }, { actor: "test/slow#2" }]);
  });
});

describe("timers on the real loop", () => {
  test("a timer fires once and not before its time", async () => {
    const loop = createRealLoop({ name: "test" });
    const at = loop.now() + 20;
    const firedAt = await new Promise<number>((resolve) => {
      loop.timer(at, "progress", () => resolve(loop.now()));
      loop.timer(at + 1000, "progress", () => resolve(0)).cancel();
      void sleep(500).then(() => resolve(-1));
    });

    expect(firedAt).toBeGreaterThanOrEqual(at);
  });

  test("timers fire in the order of their times, whatever the order in which they were set", async () => {
    const loop = createRealLoop({ name: "test" });
    const order: number[] = [];
    const start = loop.now();
    for (const ms of [15, 5, 10, 0]) loop.timer(start + ms, "periodic", () => void order.push(ms));
    await sleep(40);
    await drained(loop, "health");

    expect(order).toEqual([0, 5, 10, 15]);
  });

  test("a cancelled timer does not run, not even when it is already due", async () => {
    const loop = createRealLoop({ name: "test" });
    const ran: string[] = [];
    const at = loop.now() + 5;
    loop.timer(at, "progress", () => other.cancel());
    const other = loop.timer(at, "progress", () => void ran.push("other"));
    loop.timer(at, "progress", () => void ran.push("cancelled")).cancel();
    await sleep(20);
    await drained(loop, "health");

    expect(ran).toEqual([]);
  });

  test("a timer in the far future neither fires at once nor delays the others", async () => {
    const loop = createRealLoop({ name: "test" });
    let hasFired = false;
    const far = loop.timer(loop.now() + 2 ** 40, "periodic", () => void (hasFired = true));
    await new Promise<void>((resolve) => void loop.timer(loop.now() + 10, "progress", resolve));

    expect(hasFired).toBe(false);
    far.cancel();
  });

  test("a time that is not a number is rejected", () => {
    expect(() => createRealLoop({ name: "test" }).timer(Number.NaN, "progress", () => {})).toThrow(
      "finite number",
    );
  });
});

describe("steady clock", () => {
  test("steady time advances evenly when the wall clock is set back and forward again", () => {
    const clock = new SteadyClock(1_000_000, 0);

    expect(clock.correction(1_060_000, 60_000)).toBe(0);
    expect(clock.correction(1_000_000, 70_000)).toBe(70_000);
    expect(clock.correction(1_010_000, 80_000)).toBe(70_000);
    expect(clock.correction(1_090_000, 90_000)).toBe(0);
  });

  test("steady time follows drift and a wall clock that is set forward", () => {
    const clock = new SteadyClock(1_000_000, 0);

    expect(clock.correction(4_600_000, 10)).toBe(0);
    expect(clock.correction(4_600_900, 1000)).toBe(0);
  });
});

describe("actors of the real loop", () => {
  test("paths name every actor, and a repeated name gets a number", () => {
    const root = createRealLoop({ name: "cluster" });

    expect(root.child("store").child("commit").actor).toBe("cluster/store/commit");
    expect(root.child("store").actor).toBe("cluster/store#2");
    expect(() => root.child("a/b")).toThrow("an actor's name");
  });

  test("random streams are kept by name and determined by a seed", () => {
    const draw = (seed?: number): string[] => {
      const root = createRealLoop({ name: "cluster", ...(seed === undefined ? {} : { seed }) });
      return [root.child("a").random("x").uuid(), root.child("a").random("x").uuid()];
    };
    const loop = createRealLoop({ name: "cluster" });

    expect(loop.random("x")).toBe(loop.random("x"));
    expect(draw(1)).toEqual(draw(1));
    expect(new Set([...draw(1), ...draw(2), ...draw(), ...draw()]).size).toBe(8);
  });

  test("outside settles as the work does", async () => {
    const loop = createRealLoop({ name: "test" });

    await expect(loop.outside("disk", Promise.resolve(1))).resolves.toBe(1);
    await expect(loop.outside("disk", Promise.reject(new Error("full")))).rejects.toThrow("full");
  });
});
