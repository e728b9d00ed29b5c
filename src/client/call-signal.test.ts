import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { callSignal, endableSignal, addAbortListener, removeAbortListener } from "./call-signal.ts";

describe("callSignal", () => {
  test("is aborted by any of its signals, with the reason of that signal", () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const { signal } = callSignal([first.signal, second.signal]);

    second.abort(new Error("enough"));

    expect(signal?.reason).toEqual(new Error("enough"));
    expect(first.signal.aborted).toBe(false);
  });

  test("is aborted from the start when one of its signals is", () => {
    expect(callSignal([AbortSignal.abort(new Error("before"))]).signal?.reason).toEqual(new Error("before"));
  });

  test("is the signal itself when there is only one", () => {
    const { signal } = new AbortController();

    expect(callSignal([signal]).signal).toBe(signal);
  });

  test("is undefined without signals", () => {
    expect(callSignal([]).signal).toBeUndefined();
  });
});

describe("endableSignal", () => {
  test("a thousand calls share one listener on a signal, which is removed when they end", () => {
    const ending = new AbortController();
    const calls = Array.from({ length: 1000 }, () => endableSignal([ending.signal]));
    const during = getEventListeners(ending.signal, "abort").length;

    for (const call of calls) call.release();

    expect(during).toBe(1);
    expect(getEventListeners(ending.signal, "abort")).toHaveLength(0);
  });

  test("a released call is not aborted, another one is", () => {
    const ending = new AbortController();
    const [over, open] = [endableSignal([ending.signal]), endableSignal([ending.signal])];

    over.release();
    ending.abort();

    expect([over.signal.aborted, open.signal.aborted]).toEqual([false, true]);
  });

  test("abort ends a single call, and its release callback runs once", () => {
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

describe("follow", () => {
  test("a thousand listeners share one event listener, which is removed when they leave", () => {
    const { signal } = new AbortController();
    const listeners = Array.from({ length: 1000 }, () => ({ abort: () => undefined }));
    const registrations = listeners.map((listener) => addAbortListener(signal, listener));
    const during = getEventListeners(signal, "abort").length;

    for (const registration of registrations) removeAbortListener(signal, registration);

    expect(during).toBe(1);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  test("a listener receives the reason once, immediately if already aborted, never after it left", () => {
    const ending = new AbortController();
    const told: unknown[] = [];
    const [stays, leaves, late] = ["stays", "leaves", "late"].map((who) => ({
      abort: (reason: unknown) => void told.push([who, reason]),
    }));
    if (stays === undefined || leaves === undefined || late === undefined) throw new Error("expected three");
    addAbortListener(ending.signal, stays);
    removeAbortListener(ending.signal, addAbortListener(ending.signal, leaves));

    ending.abort("over");
    addAbortListener(ending.signal, late);

    expect(told).toEqual([
      ["stays", "over"],
      ["late", "over"],
    ]);
  });
});
