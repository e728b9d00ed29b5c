import { describe, expect, test } from "vitest";
import { ConfigMap } from "../api/generated/types/core-v1.ts";
import { VirtualLoop } from "../base/loop/virtual/virtual-loop.ts";
import { createClient } from "./api-client.ts";
import { scripted, settled } from "./fixture.ts";
import { Throttle } from "./throttle.ts";

describe("a throttle", () => {
  test("starts a burst at once and later calls at its rate, in order", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const throttle = new Throttle({ qps: 10, burst: 3 }, loop);
    const started: [number, number][] = [];

    const calls = [0, 1, 2, 3, 4].map(async (call) => {
      await throttle.take(undefined);
      started.push([call, loop.elapsed()]);
    });
    await settled(loop, Promise.all(calls));

    expect(started).toEqual([
      [0, 0],
      [1, 0],
      [2, 0],
      [3, 100],
      [4, 200],
    ]);
  });

  test("saves up at most one burst", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const throttle = new Throttle({ qps: 10, burst: 2 }, loop);
    await loop.advance(60_000);

    const waits = [0, 1, 2].map(() => throttle.take(undefined));

    expect(waits.map((wait) => wait === undefined)).toEqual([true, true, false]);
    await loop.settle();
  });

  test("a waiting call that is aborted does not delay the others", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const throttle = new Throttle({ qps: 1, burst: 1 }, loop);
    const ending = new AbortController();
    await throttle.take(undefined);
    const aborted = throttle.take(ending.signal);
    const last = throttle.take(undefined);

    ending.abort(new Error("enough"));

    await expect(aborted).rejects.toThrow("enough");
    await settled(loop, Promise.resolve(last));
    expect(loop.elapsed()).toBe(1000);
  });

  test("leaves no timer when no call waits", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const throttle = new Throttle({ qps: 0.001, burst: 1 }, loop);
    const ending = new AbortController();
    await throttle.take(undefined);
    const aborted = throttle.take(ending.signal);
    ending.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");

    await loop.settle();

    expect(loop.elapsed()).toBe(0);
  });

  test.each([
    { qps: 0, burst: 1 },
    { qps: 1, burst: 0 },
    { qps: Number.NaN, burst: 1 },
  ])("rejects %j", (options) => {
    expect(() => new Throttle(options, new VirtualLoop({ seed: 1 }))).toThrow(RangeError);
  });

  test("a client has no throttle by default", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const [free, bound] = [scripted([{}]), scripted([{}])];
    const options = { loop, throttle: { qps: 2, burst: 1 } };
    const read = (client: ReturnType<typeof createClient>): Promise<unknown> =>
      Promise.all(Array.from({ length: 5 }, () => client(ConfigMap).get({ name: "a" })));

    await settled(loop, read(createClient(free, { loop })));
    const freeMs = loop.elapsed();
    await settled(loop, read(createClient(bound, options)));

    expect([freeMs, loop.elapsed()]).toEqual([0, 2000]);
    expect(bound.requests).toHaveLength(5);
  });
});
