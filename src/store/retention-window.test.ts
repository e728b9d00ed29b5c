import { describe, expect, test } from "vitest";
import { createRealLoop } from "../base/loop/real/real-loop.ts";
import { RetentionWindow } from "./retention-window.ts";

describe("RetentionWindow", () => {
  test("revisions older than the window expire once", () => {
    const window = new RetentionWindow({ windowMs: 10_000, maxBytes: 1_000_000 });
    for (let second = 1; second <= 20; second++) window.note(second, second * 1000, 10);

    expect(window.takeExpired(20_000)).toBe(9);
    expect(window.takeExpired(20_000)).toBeUndefined();
  });

  test("a small expired part waits for more, so that both go together", () => {
    const window = new RetentionWindow({ windowMs: 10_000, maxBytes: 1_000_000 });
    for (let second = 1; second <= 12; second++) window.note(second, second * 1000, 10);

    expect(window.takeExpired(11_900)).toBeUndefined();
    expect(window.takeExpired(12_900)).toBe(2);
  });

  test("revisions beyond the bytes expire, however young", () => {
    const window = new RetentionWindow({ windowMs: 10_000, maxBytes: 6400 });
    for (let revision = 1; revision <= 1000; revision++) window.note(revision, 0, 100);

    const expired = window.takeExpired(0) ?? 0;

    expect(expired).toBeGreaterThan(900);
    expect(expired).toBeLessThan(1000);
  });

  test("begin drops a past of many samples at once", () => {
    const window = new RetentionWindow({ windowMs: 10_000, maxBytes: 1_000_000 });
    for (let revision = 1; revision <= 200_000; revision++) window.note(revision, revision * 1000, 1);
    const loop = createRealLoop({ name: "test" });
    const startedAt = loop.elapsed();

    window.begin(200_000);

    expect(loop.elapsed() - startedAt).toBeLessThan(500);
  });

  test("a store without writes for long keeps no history", () => {
    const window = new RetentionWindow({ windowMs: 10_000, maxBytes: 6400 });
    for (const revision of [1, 2, 3]) window.note(revision, revision, 1);

    expect(window.takeExpired(60_000)).toBe(3);
    expect(window.takeExpired(60_000)).toBeUndefined();
  });
});
