import { describe, expect, test } from "vitest";
import { WriteLimiter } from "./write-limiter.ts";

/** Writes that a test ends one by one. */
class Writes {
  readonly begun: string[] = [];
  readonly #ends = new Map<string, () => void>();

  of(name: string): () => Promise<void> {
    return () => {
      this.begun.push(name);
      return new Promise((resolve) => this.#ends.set(name, resolve));
    };
  }

  async end(name: string): Promise<void> {
    this.#ends.get(name)?.();
    await Promise.resolve();
    await Promise.resolve();
  }
}

describe("a window of writes", () => {
  test("starts writes up to its limit, and the next when one ends", async () => {
    const [window, writes] = [new WriteLimiter<string>(2), new Writes()];
    for (const subject of ["a", "b", "c"]) window.send(subject, writes.of(subject));
    const before = [...writes.begun];

    await writes.end("a");

    expect(before).toEqual(["a", "b"]);
    expect(writes.begun).toEqual(["a", "b", "c"]);
  });

  test("keeps only the last of several waiting writes of one subject", async () => {
    const [window, writes] = [new WriteLimiter<string>(1), new Writes()];
    window.send("a", writes.of("a"));
    window.send("b", writes.of("b, first"));
    window.send("b", writes.of("b, last"));

    await writes.end("a");

    expect(writes.begun).toEqual(["a", "b, last"]);
  });

  test("refuses a second write of a subject while one is in flight", async () => {
    const [window, writes] = [new WriteLimiter<string>(), new Writes()];
    window.send("a", writes.of("a"));
    expect(window.send("a", writes.of("a again"))).toBe(false);

    await writes.end("a");

    expect(window.send("a", writes.of("a again"))).toBe(true);
  });
});
