/** Worlds of a store in virtual and in real time. */
import type { Loop } from "../../src/base/loop/loop.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { VirtualLoop, type VirtualLoopOptions } from "../../src/base/loop/virtual/virtual-loop.ts";
import type { Store } from "../../src/store/store.ts";
import type { StoreFixture } from "./store-fixture.ts";

/** Control of time in a world. */
export interface FixtureTime {
  readonly loop: Loop;
  pass(ms: number): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Runs a virtual loop for a test that awaits as if time passed by itself: ready steps run at once, timers run when the test lets time pass.
 */
export function virtualTime(options: VirtualLoopOptions): FixtureTime {
  const loop = new VirtualLoop(options);
  const passing: { readonly ms: number; readonly done: () => void }[] = [];
  const state: { now: "running" | "stopped" } = { now: "running" };
  const run = async (): Promise<void> => {
    while (state.now === "running") {
      const next = passing.shift();
      if (next === undefined) {
        await loop.settle();
      } else {
        await loop.advance(next.ms);
        next.done();
      }
    }
  };
  const running = run();
  return {
    loop,
    pass: (ms) => new Promise((done) => passing.push({ ms, done })),
    stop: async () => {
      state.now = "stopped";
      await running;
    },
  };
}

export function realTime(): FixtureTime {
  const loop = createRealLoop({ name: "test" });
  return {
    loop,
    // The background lane comes last, so with 0 everything posted before has run.
    pass: (ms) =>
      new Promise((resolve) => {
        if (ms === 0) loop.post("background", resolve);
        else loop.timer(loop.now() + ms, "progress", resolve);
      }),
    stop: async () => undefined,
  };
}

export interface StoreFixtureOptions {
  readonly time: FixtureTime;
  readonly waitMs: number;
  readonly root?: string;
  /** Opens a store on the data of this world. */
  readonly open: (loop: Loop) => Promise<Store>;
  /** Removes the data. Without it the data ends with the store. */
  readonly clean?: () => Promise<void>;
}

export async function openStoreFixture({
  time,
  waitMs,
  root = "/registry/",
  open,
  clean,
}: StoreFixtureOptions): Promise<StoreFixture> {
  let store = await open(time.loop.child("store"));
  const opened = [store];
  const openAnother = async (): Promise<Store> => {
    const another = await open(time.loop.child("store"));
    opened.push(another);
    return another;
  };
  return {
    get store() {
      return store;
    },
    loop: time.loop,
    root,
    waitMs,
    reopen: async () => {
      if (clean === undefined) throw new Error("this store does not outlive its world");
      await store.close();
      store = await openAnother();
      return store;
    },
    join: openAnother,
    pass: (ms) => time.pass(ms),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(opened.map((each) => each.close()));
      await time.stop();
      await clean?.();
    },
  };
}
