import { describe, expect, test } from "vitest";
import { briefBuffer } from "./buffer-pool.ts";

describe("briefBuffer", () => {
  test("no two overlap, whatever their lengths", () => {
    const lengths = Array.from({ length: 200 }, (_, n) => (n * 977) % 10_000);
    const buffers = lengths.map((length, n) => briefBuffer(length).fill(n % 251));

    expect(buffers.map(({ length }) => length)).toEqual(lengths);
    expect(buffers.every((buffer, n) => buffer.every((byte) => byte === n % 251))).toBe(true);
  });

  test("what is long shares its memory with nothing", () => {
    expect(briefBuffer(100_000).buffer.byteLength).toBe(100_000);
  });
});
