import { describe, expect, test } from "vitest";
import { runToEnd, type YieldingWork } from "../../base/loop/yielding-work.ts";
import { inStages, RequestPace } from "./pace.ts";

/** A loop whose clock and steps the test controls. */
class SteppedLoop {
  time = 0;
  readonly waiting: (() => void | Promise<void>)[] = [];

  elapsed(): number {
    return this.time;
  }

  post(_lane: string, step: () => void | Promise<void>): void {
    this.waiting.push(step);
  }

  async runNext(): Promise<void> {
    await this.waiting.shift()?.();
  }
}

function* work(loop: SteppedLoop, msEach: number, log: string[]): YieldingWork<string> {
  for (const stage of ["a", "b", "c"]) {
    loop.time += msEach;
    log.push(stage);
    yield;
  }
  return "done";
}

function* failing(): YieldingWork<never> {
  yield;
  throw new Error("no");
}

function longPace(loop: SteppedLoop): RequestPace {
  const pace = new RequestPace(loop);
  pace.weigh(10_000);
  return pace;
}

describe("the pace of a request", () => {
  test("is one step for a short request, however busy the machine is", () => {
    const loop = new SteppedLoop();
    const pace = new RequestPace(loop);
    pace.weigh(100);
    pace.weighBytes(4000);
    loop.time = 1000;

    expect(pace.rest()).toBeUndefined();
  });

  test("keeps short work in one step", async () => {
    const loop = new SteppedLoop();
    const pace = longPace(loop);

    const value = await inStages(pace, work(loop, 1, []));

    expect([value, loop.waiting.length]).toEqual(["done", 0]);
  });

  test("gives each stage a step when stages are long", async () => {
    const loop = new SteppedLoop();
    const log: string[] = [];
    const pace = longPace(loop);

    const value = inStages(pace, work(loop, 20, log));

    expect(log).toEqual(["a"]);
    await loop.runNext();
    expect(log).toEqual(["a", "b"]);
    await loop.runNext();
    await loop.runNext();
    expect(await value).toBe("done");
  });

  test("restarts its timer with each step", async () => {
    const loop = new SteppedLoop();
    const pace = longPace(loop);
    loop.time = 20;

    const resting = pace.rest();
    await loop.runNext();
    await resting;

    expect(pace.rest()).toBeUndefined();
  });

  test("rethrows the error of a stage", async () => {
    const loop = new SteppedLoop();
    const pace = longPace(loop);
    loop.time = 20;

    const value = inStages(pace, failing());
    await loop.runNext();

    await expect(value).rejects.toThrow("no");
  });
});

test("stages without a pace run synchronously", () => {
  const log: string[] = [];

  expect([runToEnd(work(new SteppedLoop(), 20, log)), log]).toEqual(["done", ["a", "b", "c"]]);
});
