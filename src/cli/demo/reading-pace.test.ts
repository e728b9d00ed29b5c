import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import { ReadingPace } from "./reading-pace.ts";

describe("the reading pace of the demo", () => {
  test("stops at space, says so, and goes on at the next", async () => {
    const { loop, stdin, shown, pace } = paceOf();
    let isRead = false;
    void pace.wait(300).then(() => (isRead = true));

    stdin.emit("data", Buffer.from(" "));
    await loop.advance(10_000);
    const before = isRead;
    stdin.emit("data", Buffer.from(" "));
    await loop.advance(0);

    expect([before, isRead]).toEqual([false, true]);
    expect(shown).toEqual(["paused · space goes on · q ends", ""]);
  });

  test.each([
    ["q", "q"],
    ["Ctrl-C", "\u0003"],
  ])("ends at %s, also while it is paused", async (_name, key) => {
    const { loop, stdin, pace } = paceOf();
    const waiting = pace.wait(300);

    stdin.emit("data", Buffer.from(` ${key}`));
    await loop.advance(0);
    await waiting;

    expect(pace.signal.aborted).toBe(true);
  });

  test("takes keys as they are pressed, and gives the terminal back", () => {
    const { modes, pace } = paceOf();

    pace.close();

    expect(modes).toEqual([true, false]);
  });

  test("reads no keys without a terminal, and ends with the program", () => {
    const ending = new AbortController();
    const { modes, pace } = paceOf({ hasScreen: false, signal: ending.signal });
    ending.abort();

    expect([modes, pace.signal.aborted]).toEqual([[], true]);
  });
});

function paceOf({ hasScreen = true, signal = new AbortController().signal } = {}) {
  const loop = new VirtualLoop({ seed: 1 });
  const [shown, modes]: [string[], boolean[]] = [[], []];
  const stdin = Object.assign(new PassThrough(), {
    setRawMode: (mode: boolean) => (modes.push(mode), stdin) as never,
  });
  const screen = hasScreen ? { live: (text: string) => void shown.push(text) } : undefined;
  return { loop, stdin, shown, modes, pace: new ReadingPace({ loop, screen, stdin, signal }) };
}
