import { describe, expect, test } from "vitest";
import { entryBytes, growthOf } from "./space.ts";

const EMPTY = entryBytes({ key: "k", value: bytes("") });

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Estimated memory of a value, by its bytes. */
function perByte(text: string, modRevision = 7): number {
  return (entryBytes({ key: "k", value: bytes(text), modRevision }) - EMPTY) / text.length;
}

describe("the memory of an entry", () => {
  test.each([
    { name: "a long text", value: { a: "x".repeat(20_000) }, least: 1, most: 1.5 },
    { name: "a map of short strings", value: numbered((n) => [`k${n}`, "ab"]), least: 4, most: 7 },
    { name: "a map of empty objects", value: numbered((n) => [`k${n}`, {}]), least: 4, most: 9 },
    { name: "a list of empty lists", value: Array.from({ length: 3000 }, () => []), least: 5, most: 10 },
  ])("is estimated by the decoded size of $name", ({ value, least, most }) => {
    const estimate = perByte(JSON.stringify(value));

    expect(estimate).toBeGreaterThanOrEqual(least);
    expect(estimate).toBeLessThanOrEqual(most);
  });

  test("is the same for the same value at the same revision", () => {
    const text = JSON.stringify(numbered((n) => [`k${n}`, "ab"]));

    expect(perByte(text, 12)).toBe(perByte(text, 12));
  });

  test("samples other places at another revision, so that no value evades it", () => {
    const dense = '{"a":1},';
    const plain = "x".repeat(dense.length);
    const halves = Array.from({ length: 2000 }, (_, n) => (n % 2 === 0 ? dense : plain)).join("");

    const estimates = Array.from({ length: 50 }, (_, revision) => perByte(halves, revision));

    expect(Math.min(...estimates)).toBeGreaterThan(2);
  });

  test("is exact for a short value", () => {
    const decoded = 4 * 11 + 16;
    expect(entryBytes({ key: "k", value: bytes('{"a":"b"}') }) - EMPTY).toBe(
      9 + Math.round(decoded + 0.8 * (decoded - 2.5 * 9)),
    );
  });
});

describe("growth", () => {
  const [short, long] = [
    { key: "k", value: bytes("{}") },
    { key: "k", value: bytes('{"a":"b"}') },
  ];

  test("is the memory of the new values minus that of the old ones", () => {
    expect(growthOf([{ before: short, after: long }])).toEqual({
      bytes: entryBytes(long) - entryBytes(short),
      isLonger: true,
    });
    expect(growthOf([{ before: long, after: undefined }])).toEqual({
      bytes: -entryBytes(long),
      isLonger: false,
    });
  });
});

function numbered(member: (n: number) => readonly [string, unknown]): object {
  return Object.fromEntries(Array.from({ length: 2000 }, (_, n) => member(n)));
}
