import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { callSignal, endableSignal } from "./call-signal.ts";

describe("callSignal", () => {
  test("is aborted by any of its signals, with that one's reason", () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const { signal } = callSignal([first.signal, second.signal]);

    second.abort(new Error("enough"));

    expect(signal?.reason).toEqual(new Error("enough"));
    expect(first.signal.aborted).toBe(false);
  });

  test("is aborted from the start when one of them is", () => {
    expect(callSignal([AbortSignal.abort(new Error("before"))]).signal?.reason).toEqual(new Error("before"));
  });

  test("a thousand calls have one listener on a signal, and none when they are over", () => {
    const ending = new AbortController();
    const calls = Array.from({ length: 1000 }, () => callSignal([ending.signal]));
    const during = getEventListeners(ending.signal, "abort").length;

    for (const call of calls) call.release();

    expect(during).toBe(1);
    expect(getEventListeners(ending.signal, "abort")).toHaveLength(0);
  });

  test("a call that is over is not aborted any more, its neighbour is", () => {
    const ending = new AbortController();
    const [over, open] = [callSignal([ending.signal]), callSignal([ending.signal])];

    over.release();
    ending.abort();

    expect([over.signal?.aborted, open.signal?.aborted]).toEqual([false, true]);
  });

  test("costs nothing without signals", () => {
    expect(callSignal([]).signal).toBeUndefined();
  });
});

describe("endableSignal", () => {
  test("ends one call alone, and says once that it is over", () => {
    const ending = new AbortController();
    const [left, other] = [endableSignal([ending.signal]), endableSignal([ending.signal])];
    let releases = 0;
    left.onRelease(() => releases++);

    left.abort(new Error("left"));
    left.release();
    left.release();

    expect([left.signal.aborted, other.signal.aborted, releases]).toEqual([true, false, 1]);
  });
});
