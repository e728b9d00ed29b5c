import { describe, expect, test } from "vitest";
import { briefBuffer } from "./buffer-pool.ts";

describe("briefBuffer", () => {
  test("buffers of any length do not overlap", () => {
    const lengths = Array.from({ length: 200 }, (_, n) => (n * 977) % 10_000);
    const buffers = lengths.map((length, n) => briefBuffer(length).fill(n % 251));

    expect(buffers.map(({ length }) => length)).toEqual(lengths);
    expect(buffers.every((buffer, n) => buffer.every((byte) => byte === n % 251))).toBe(true);
  });

  test("a long buffer has memory of its own", () => {
    expect(briefBuffer(100_000).buffer.byteLength).toBe(100_000);
  });
});
