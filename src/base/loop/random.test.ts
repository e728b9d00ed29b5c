import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cryptoRandom, seededRandom } from "./random.ts";

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const sources = [
  { name: "seeded", create: () => seededRandom(7, "cluster", "names") },
  { name: "crypto", create: cryptoRandom },
];

describe.each(sources)("random ($name)", ({ create }) => {
  test("next is in [0, 1) and uses the whole range", () => {
    const random = create();
    const drawn = Array.from({ length: 10_000 }, () => random.next());

    expect(drawn.every((value) => value >= 0 && value < 1)).toBe(true);
    expect(drawn.reduce((sum, value) => sum + value, 0) / drawn.length).toBeCloseTo(0.5, 1);
  });

  test("below returns integers below any limit", () => {
    const random = create();
    fc.assert(
      fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (limit) => {
        const drawn = random.below(limit);
        expect(Number.isInteger(drawn) && drawn >= 0 && drawn < limit).toBe(true);
      }),
    );
  });

  test("below returns every value about equally often", () => {
    const random = create();
    const counts = [0, 0, 0, 0, 0, 0];
    for (let i = 0; i < 60_000; i++) {
      const face = random.below(6);
      counts[face] = (counts[face] ?? 0) + 1;
    }

    expect(Math.min(...counts)).toBeGreaterThan(9000);
    expect(Math.max(...counts)).toBeLessThan(11_000);
  });

  test("below rejects a limit that is not a positive integer", () => {
    const random = create();

    expect(() => random.below(0)).toThrow("positive integer");
    expect(() => random.below(1.5)).toThrow("positive integer");
  });

  test("uuids are version 4 and differ", () => {
    const random = create();
    const uuids = Array.from({ length: 1000 }, () => random.uuid());

    expect(uuids.every((uuid) => UUID_V4.test(uuid))).toBe(true);
    expect(new Set(uuids).size).toBe(1000);
  });

  test("bytes has the requested length and is not constant", () => {
    const bytes = create().bytes(64);

    expect(bytes.length).toBe(64);
    expect(new Set(bytes).size).toBeGreaterThan(20);
  });
});

test("the operating system's bytes are drawn once, however many are asked for", () => {
  const random = cryptoRandom();
  const drawn = [1000, 600, 16, 8].flatMap((count) =>
    Array.from({ length: 1000 }, () => Buffer.from(random.bytes(count))),
  );

  expect(drawn.filter(({ length }) => length === 1000)).toHaveLength(1000);
  expect(new Set(drawn.map((bytes) => bytes.toString("hex"))).size).toBe(4000);
});

describe("seeded random", () => {
  test("the same parts give the same numbers forever", () => {
    const random = seededRandom(7, "cluster/store", "names");

    expect([random.below(1000), random.below(1000), random.uuid()]).toMatchInlineSnapshot(`
      [
        430,
        312,
        "93453ddc-0a86-47a7-8599-9e8c0f19b149",
      ]
    `);
  });

  test("streams that differ in one part are unrelated", () => {
    const parts = [
      [1, "a", "s"],
      [2, "a", "s"],
      [1, "b", "s"],
      [1, "a", "t"],
      [1, "as", ""],
    ];
    const drawn = parts.flatMap((part) => {
      const random = seededRandom(...part);
      return Array.from({ length: 100 }, () => random.below(2 ** 32));
    });

    expect(new Set(drawn).size).toBe(500);
  });
});
