import { setImmediate as immediate } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LANES, type Loop, type Timer } from "../loop.ts";
import { VirtualLoop, type VirtualLoopOptions } from "./virtual-loop.ts";

const seeds = fc.integer({ min: 0, max: 2 ** 31 });

/** Runs three actors that use everything: lanes, both kinds of timers, failures, outside work, random numbers. */
async function liveBusily(options: VirtualLoopOptions): Promise<{ world: VirtualLoop; diary: string[] }> {
  const diary: string[] = [];
  const world = new VirtualLoop({
    outside: ["disk"],
    onStepFailed: (error, actor) => note(actor, String(error)),
    ...options,
  });
  const note = (actor: string, what: string): void => void diary.push(`${world.elapsed()} ${actor} ${what}`);
  for (const actor of ["a", "b", "c"].map((name) => world.child(name))) {
    for (const lane of LANES) actor.post(lane, () => note(actor.actor, lane));
    actor.timer(world.now() + 100, "progress", () => act(actor, note));
    const tick = (): void => {
      note(actor.actor, "tick");
      actor.timer(actor.now() + 30, "periodic", tick);
    };
    tick();
  }
  await world.settle();
  return { world, diary };
}

function act(loop: Loop, note: (actor: string, what: string) => void): void {
  loop.post("loop", async () => {
    note(loop.actor, `drew ${loop.random("x").below(1000)}`);
    note(loop.actor, `read ${await loop.outside("disk", immediate("bytes"))}`);
    loop.post("request", () => Promise.reject(new Error("late")));
  });
  loop.post("loop", () => {
    throw new Error("at once");
  });
}

describe("order on the virtual loop", () => {
  test("the same seed gives the same steps, with lanes, timers, failing steps and outside work", async () => {
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const first = await liveBusily({ seed });
        const second = await liveBusily({ seed });

        expect(second.diary).toEqual(first.diary);
        expect(second.world.trace).toEqual(first.world.trace);
        expect(first.diary.length).toBeGreaterThan(30);
      }),
      { numRuns: 20 },
    );
  });

  test("different seeds give different orders", async () => {
    const runs = await Promise.all([1, 2, 3, 4].map((seed) => liveBusily({ seed })));

    expect(new Set(runs.map(({ diary }) => diary.join())).size).toBe(4);
    expect(new Set(runs.map(({ world }) => world.trace.hash)).size).toBe(4);
  });

  test("steps of one actor in one lane run in the order posted, for all seeds", async () => {
    const posts = fc.array(fc.tuple(fc.nat(2), fc.constantFrom(...LANES)), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(seeds, posts, async (seed, drawn) => {
        const world = new VirtualLoop({ seed });
        const actors = ["a", "b", "c"].map((name) => world.child(name));
        const ran = new Map<string, number[]>();
        for (const [i, [who, lane]] of drawn.entries()) {
          const key = `${who} ${lane}`;
          actors[who]?.post(lane, () => void ran.set(key, [...(ran.get(key) ?? []), i]));
        }
        await world.settle();

        for (const numbers of ran.values()) expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
        expect([...ran.values()].flat()).toHaveLength(drawn.length);
      }),
      { numRuns: 50 },
    );
  });

  test("all microtasks of a step run before the next step", async () => {
    const world = new VirtualLoop({ seed: 1 });
    const order: string[] = [];
    for (const name of ["a", "b"]) {
      world.post("loop", async () => {
        order.push(`${name}1`);
        for (let hop = 0; hop < 20; hop++) await Promise.resolve();
        await new Promise<void>((resolve) => process.nextTick(resolve));
        order.push(`${name}2`);
      });
    }
    await world.settle();

    expect(order).toEqual(["a1", "a2", "b1", "b2"]);
  });

  test("the clock shows whole milliseconds, and no timer fires early", async () => {
    const world = new VirtualLoop({ seed: 1 });
    const at = world.now() + 5.25;
    const seen: number[] = [];
    world.timer(at, "progress", () => void seen.push(world.now()));

    await world.settle();

    expect(seen).toEqual([Math.ceil(at)]);
  });

  test("the seed decides the order of timers with the same time", async () => {
    const orders = new Set<string>();
    for (let seed = 0; seed < 20; seed++) {
      const world = new VirtualLoop({ seed });
      const order: number[] = [];
      for (const n of [1, 2, 3]) world.timer(world.now() + 5, "progress", () => void order.push(n));
      await world.settle();
      orders.add(order.join());
    }

    expect(orders.size).toBeGreaterThan(1);
  });

  test("the trace keeps the last steps as text", async () => {
    const world = new VirtualLoop({ seed: 1, name: "cluster", record: 2 });
    world.post("loop", () => {});
    world.timer(world.now() + 5, "progress", () => {});
    world.child("store").timer(world.now() + 7, "progress", () => {});
    await world.settle();

    expect(world.trace.steps).toBe(3);
    expect(world.trace.recent).toEqual(["#2 +5ms cluster progress", "#3 +7ms cluster/store progress"]);
  });
});

describe("settling the virtual loop", () => {
  test("settle runs progress timers, and periodic timers only if due meanwhile", async () => {
    const world = new VirtualLoop({ seed: 1 });
    const order: string[] = [];
    world.timer(world.now() + 1000, "progress", () => void order.push("progress"));
    world.timer(world.now() + 500, "periodic", () => void order.push("on the way"));
    world.timer(world.now() + 1001, "periodic", () => void order.push("too late"));
    await world.settle();

    expect(order).toEqual(["on the way", "progress"]);
    expect(world.elapsed()).toBe(1000);
  });

  test("a periodic timer that is due does not prevent quiet", async () => {
    const world = new VirtualLoop({ seed: 1 });
    let ticks = 0;
    const tick = (): void => {
      ticks++;
      world.timer(world.now(), "periodic", tick);
    };
    world.timer(world.now(), "periodic", tick);
    await world.settle();

    expect(ticks).toBe(0);
    await expect(world.advance(0, { maxSteps: 10 })).rejects.toThrow("not idle after 10 steps");
    expect(ticks).toBe(10);
  });

  test("settle does not wait for a cancelled timer, not even for a due one", async () => {
    const world = new VirtualLoop({ seed: 1 });
    const ran: string[] = [];
    const timers: Timer[] = ["first", "second"].map((name) =>
      world.timer(world.now() + 5, "progress", () => {
        ran.push(name);
        for (const timer of timers) timer.cancel();
      }),
    );
    world.timer(world.now() + 60_000, "progress", () => void ran.push("far")).cancel();
    await world.settle();
    for (const timer of timers) timer.cancel();
    await world.settle();

    expect(ran).toHaveLength(1);
    expect(world.elapsed()).toBe(5);
  });

  test("settle runs what earlier code is about to post", async () => {
    const world = new VirtualLoop({ seed: 1 });
    let ran = false;
    void Promise.resolve().then(() => world.post("loop", () => void (ran = true)));
    await world.settle();

    expect(ran).toBe(true);
  });

  test("settle rejects with the pending work by actor when the loop does not get quiet", async () => {
    const world = new VirtualLoop({ seed: 9, name: "cluster" });
    const retry = (): void => void world.child("gc").timer(world.now() + 1000, "progress", retry);
    retry();

    await expect(world.settle({ limitMs: 5500 })).rejects.toThrow(
      /^not quiet after the time until \+5500ms \(seed 9, .*\); pending: cluster\/gc#6: 1 progress timer$/,
    );
    await expect(world.settle({ maxSteps: 3 })).rejects.toThrow("not quiet after 3 steps");
    expect(world.elapsed()).toBe(8000);
  });
});

describe("running the virtual loop", () => {
  test("advance runs everything that is due, periodic timers too, and moves the clock exactly", async () => {
    const world = new VirtualLoop({ seed: 1, startAt: 5000 });
    let ticks = 0;
    const tick = (): void => {
      ticks++;
      world.timer(world.now() + 10, "periodic", tick);
    };
    world.timer(world.now() + 10, "periodic", tick);
    await world.advance(25);
    expect([ticks, world.now()]).toEqual([2, 5025]);

    await world.advance(5);
    expect([ticks, world.now(), world.elapsed()]).toEqual([3, 5030, 30]);
  });

  test("until stops at the first step after which the predicate holds", async () => {
    const world = new VirtualLoop({ seed: 1 });
    let count = 0;
    for (let i = 0; i < 10; i++) world.post("loop", () => void count++);
    await world.until(() => count === 4);

    expect(count).toBe(4);
  });

  test("until rejects when the time is over or nothing is left", async () => {
    const world = new VirtualLoop({ seed: 1 });
    await expect(world.until(() => false)).rejects.toThrow("after all there is to run");

    world.timer(world.now() + 100, "periodic", () => {});
    await expect(world.until(() => false, { limitMs: 50 })).rejects.toThrow("after the time until +50ms");
  });

  test("a second concurrent run is rejected", async () => {
    const world = new VirtualLoop({ seed: 1 });
    const first = world.settle();

    await expect(world.advance(1)).rejects.toThrow("already running");
    await first;
    await world.settle();
  });
});

describe("failing steps on the virtual loop", () => {
  test("the run rejects with actor, step, seed and cause, and can continue", async () => {
    const world = new VirtualLoop({ seed: 3 });
    const cause = new Error("boom");
    const ran: string[] = [];
    world.post("loop", () => {
      throw cause;
    });
    world.post("loop", () => void ran.push("next"));

    await expect(world.settle()).rejects.toThrow(
      expect.objectContaining({ message: "step 1 of actor root failed (seed 3): boom", cause }),
    );
    expect(ran).toEqual([]);
    await world.settle();
    expect(ran).toEqual(["next"]);
  });

  test("a promise that rejects many steps later fails the step that returned it", async () => {
    const world = new VirtualLoop({ seed: 3 });
    world.child("slow").post("loop", async () => {
      await new Promise<void>((resolve) => void world.timer(world.now() + 1000, "progress", resolve));
      throw new Error("late");
    });

    await expect(world.settle()).rejects.toThrow("step 1 of actor root/slow failed (seed 3): late");
  });

  test("no failure is lost when several occur at once", async () => {
    const world = new VirtualLoop({ seed: 3 });
    const gate = new Promise<void>((resolve) => void world.timer(world.now() + 5, "progress", resolve));
    for (const name of ["a", "b"]) world.post("loop", () => gate.then(() => Promise.reject(new Error(name))));

    await expect(world.settle()).rejects.toThrow("failed (seed 3): a");
    await expect(world.settle()).rejects.toThrow("failed (seed 3): b");
    await world.settle();
  });

  test("a run that is continued after failures stays deterministic", async () => {
    const live = async (): Promise<unknown> => {
      const world = new VirtualLoop({ seed: 11 });
      const failures: unknown[] = [];
      for (const actor of ["a", "b", "c"].map((name) => world.child(name))) {
        actor.post("loop", () => Promise.reject(new Error("x")));
        actor.post("request", () => void actor.timer(world.now() + 1, "progress", () => {}));
      }
      for (let tries = 0; tries < 4; tries++)
        await world.settle().catch((error: unknown) => failures.push(String(error)));
      return [failures, world.trace];
    };

    const [first, second] = [await live(), await live()];
    expect(second).toEqual(first);
    expect(first).toMatchObject([{ length: 3 }, { steps: 9 }]);
  });
});

describe("outside work on the virtual loop", () => {
  test("work that was not declared is rejected with actor and label", async () => {
    const world = new VirtualLoop({ seed: 1, outside: ["disk"] });
    const refused = world.child("store").outside("dns", Promise.reject(new Error("never observed")));

    await expect(refused).rejects.toThrow(
      expect.objectContaining({ name: "DeterminismViolation", actor: "root/store", label: "dns" }),
    );
  });

  test("no step runs while declared work is in flight, and settle waits for it", async () => {
    const world = new VirtualLoop({ seed: 1, outside: ["disk"] });
    const order: string[] = [];
    const work = async (): Promise<void> => {
      await immediate();
      await immediate();
      order.push("work ended");
    };
    world.post("loop", async () => {
      await world.outside("disk", work());
      order.push("heard of it");
    });
    for (let i = 0; i < 5; i++) world.post("loop", () => void order.push("step"));
    await world.settle();

    expect(order[0]).toBe("work ended");
    expect(order).toHaveLength(7);
    expect(order).toContain("heard of it");
  });

  test("results of one actor arrive in the order in which the work was started", async () => {
    const world = new VirtualLoop({ seed: 1, outside: ["disk"] });
    const heard: string[] = [];
    const slow = immediate().then(() => immediate());
    void world.outside("disk", slow).then(() => heard.push("slow"));
    void world.outside("disk", Promise.reject(new Error("quick"))).catch(() => heard.push("quick"));
    await world.settle();

    expect(heard).toEqual(["slow", "quick"]);
    expect(world.trace.steps).toBe(2);
  });
});

describe("random streams on the virtual loop", () => {
  test("numbers depend on seed, actor and name only", () => {
    const draw = (seed: number, actor: string, stream: string): string =>
      new VirtualLoop({ seed }).child(actor).random(stream).uuid();

    expect(draw(1, "a", "x")).toBe(draw(1, "a", "x"));
    expect(new Set([draw(1, "a", "x"), draw(2, "a", "x"), draw(1, "b", "x"), draw(1, "a", "y")]).size).toBe(
      4,
    );
  });

  test("actors of the same name have different streams", () => {
    const world = new VirtualLoop({ seed: 1 });
    const [first, second] = [world.child("client"), world.child("client")];

    expect([first.actor, second.actor]).toEqual(["root/client", "root/client#2"]);
    expect(first.random("x").uuid()).not.toBe(second.random("x").uuid());
    expect(first.random("x")).toBe(first.random("x"));
  });
});

describe("work in flight", () => {
  test("that is left on a quiet loop makes settle reject with its actor", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const client = loop.child("client");
    client.inFlight("GET /a")();
    const end = client.inFlight("GET /b");

    await expect(loop.settle()).rejects.toThrow(/never settles.*root\/client: GET \/b$/);

    end();
    await loop.settle();
  });
});
