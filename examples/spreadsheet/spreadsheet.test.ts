import * as fc from "fast-check";
import { startCluster } from "setpoint";
import type { Cluster } from "setpoint";
import { describe, expect, test } from "vitest";
import { calculate, cellsOf, parseFormula } from "./formula.ts";
import { Cell, spreadsheet } from "./spreadsheet.ts";

describe("a spreadsheet", () => {
  test("calculates cells from other cells", async () => {
    await using sheet = await open({ a1: "2", a2: "=a1*10", a3: "=sum(a1:a2)/2", b1: "=-(a3 - 1)" });

    expect(values(sheet)).toEqual({ a1: 2, a2: 20, a3: 11, b1: -10 });
  });

  test("recalculates what depends on a change, and nothing else", async () => {
    await using sheet = await open({ a1: "1", a2: "=a1+1", a3: "=a2+1", b1: "7" });
    const before = versions(sheet);

    await write(sheet, { a1: "5" });

    expect(values(sheet)).toEqual({ a1: 5, a2: 6, a3: 7, b1: 7 });
    expect(versions(sheet)["b1"]).toBe(before["b1"]);
  });

  test("stops where the value stays the same", async () => {
    await using sheet = await open({ a1: "4", a2: "=a1*0", a3: "=a2+1" });
    const before = versions(sheet);

    await write(sheet, { a1: "5" });

    expect(versions(sheet)["a3"]).toBe(before["a3"]);
  });

  test("names a circle, and recovers when it is cut", async () => {
    await using sheet = await open({ a1: "=b1", b1: "=c1", c1: "=a1", d1: "=a1" });
    expect(values(sheet)).toEqual({
      a1: "circular: a1 → b1 → c1 → a1",
      b1: "circular: b1 → c1 → a1 → b1",
      c1: "circular: c1 → a1 → b1 → c1",
      d1: "a1 has an error",
    });

    await write(sheet, { c1: "3" });

    expect(values(sheet)).toEqual({ a1: 3, b1: 3, c1: 3, d1: 3 });
  });

  test("counts a deleted cell as empty", async () => {
    await using sheet = await open({ a1: "4", a2: "=a1+1" });

    await sheet.client(Cell).delete({ name: "a1" });
    await sheet.settle();

    expect(values(sheet)).toEqual({ a2: 1 });
  });

  test.each([
    ["=a1+", "the formula is not complete"],
    ["=1/0", "division by zero"],
    ["hello", '"hello" is not a number; a formula starts with "="'],
    ["=(1", '")" is missing'],
    ["=sum(a1:z100)", "a1:z100 has more than 1000 cells"],
    [`=${"(".repeat(200)}`, "the formula is nested too deep"],
  ])("says what is wrong with %.20s", async (formula, message) => {
    await using sheet = await open({ b1: formula });

    expect(values(sheet)).toEqual({ b1: message });
  });

  test("ends at the values of a direct calculation, whatever the order of edits", async () => {
    const names = ["a1", "a2", "a3", "b1", "b2"];
    const operand = fc.oneof(fc.constantFrom(...names), fc.integer({ min: 0, max: 9 }).map(String));
    const formula = fc
      .tuple(operand, fc.constantFrom("+", "-", "*"), operand)
      .map((parts) => `=${parts.join("")}`);
    const edits = fc.array(fc.tuple(fc.constantFrom(...names), formula), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(edits, fc.integer({ min: 1, max: 99 }), async (sequence, seed) => {
        await using sheet = await open({}, seed);
        for (const [cell, text] of sequence) await apply(sheet, cell, text);
        await sheet.settle();

        expect(numbers(sheet)).toEqual(directly(new Map(sequence)));
      }),
      { numRuns: 30 },
    );
  });
});

async function open(formulas: Readonly<Record<string, string>>, seed = 1): Promise<Cluster> {
  const sheet = await startCluster({
    clock: "virtual",
    seed,
    loops: "none",
    kinds: [Cell],
    controllers: [spreadsheet],
  });
  await write(sheet, formulas);
  return sheet;
}

async function write(sheet: Cluster, formulas: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, formula] of Object.entries(formulas)) await apply(sheet, name, formula);
  await sheet.settle();
}

async function apply(sheet: Cluster, name: string, formula: string): Promise<void> {
  await sheet.client(Cell).apply({ metadata: { name }, spec: { formula } }, { fieldManager: "test" });
}

function values(sheet: Cluster): Readonly<Record<string, number | string | undefined>> {
  const entries = sheet
    .objects(Cell)
    .map(({ metadata, status }) => [metadata.name, status?.error ?? status?.value] as const);
  return Object.fromEntries(entries);
}

/** Values of the cells without an error. */
function numbers(sheet: Cluster): Readonly<Record<string, number>> {
  const entries = Object.entries(values(sheet));
  return Object.fromEntries(
    entries.filter((entry): entry is [string, number] => typeof entry[1] === "number"),
  );
}

function versions(sheet: Cluster): Readonly<Record<string, string | undefined>> {
  const entries = sheet
    .objects(Cell)
    .map(({ metadata }) => [metadata.name, metadata.resourceVersion] as const);
  return Object.fromEntries(entries);
}

/** Recursive calculation without a loop, for comparison. Cells that use a circle have no value. */
function directly(formulas: ReadonlyMap<string, string>): Readonly<Record<string, number>> {
  const valueOf = (name: string, above: readonly string[]): number => {
    if (above.includes(name)) return Number.NaN;
    const expression = parseFormula(formulas.get(name) ?? "0");
    const operands = new Map(cellsOf(expression).map((cell) => [cell, valueOf(cell, [...above, name])]));
    if ([...operands.values()].some(Number.isNaN)) return Number.NaN;
    return calculate(expression, (cell) => operands.get(cell) ?? 0);
  };
  const entries = [...formulas.keys()].map((name) => [name, valueOf(name, [])] as const);
  return Object.fromEntries(entries.filter(([, value]) => !Number.isNaN(value)));
}
