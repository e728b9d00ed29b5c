/** Cells of a spreadsheet, and the loop that keeps every value equal to its formula. */
import { defineController, defineResource, indexing, t, watching } from "setpoint/runtime";
import type { CacheView, ObjectOf } from "setpoint/runtime";
import { calculate, cellsOf, FormulaError, parseFormula } from "./formula.ts";

export const Cell = defineResource({
  group: "sheet.example.com",
  version: "v1",
  kind: "Cell",
  spec: t.object({
    formula: t.string({ maxLength: 500 }).describe("A number, or a formula that starts with `=`."),
  }),
  status: t.object({
    value: t.number().optional(),
    error: t.string().optional(),
    observedGeneration: t.integer().optional(),
  }),
  columns: [
    { name: "Formula", path: ".spec.formula" },
    { name: "Value", path: ".status.value", type: "number" },
    { name: "Error", path: ".status.error" },
  ],
});
export type Cell = ObjectOf<typeof Cell>;

/**
 * Each pass calculates one cell from the values of the cells in its formula. A new value wakes the cells that use it,
 * so a change flows through the sheet and stops where nothing differs.
 */
export const spreadsheet = defineController<Cell>({
  name: "spreadsheet",
  for: Cell,
  indexes: [indexing(Cell, "uses", usedCells)],
  watches: [
    watching(Cell, ({ before, after }, cache) => {
      const { name = "", namespace = "" } = (after ?? before)?.metadata ?? {};
      return usersOf(name, namespace, cache(Cell));
    }),
  ],
  async reconcile(cell, { cache, updateStatus }) {
    await updateStatus(cell, valueOf(cell, cache(Cell)));
  },
});

function usersOf(name: string, namespace: string, cells: CacheView<Cell>): Iterable<Cell["metadata"]> {
  return cells
    .indexed("uses", name)
    .map(({ metadata }) => metadata)
    .filter((metadata) => metadata.namespace === namespace);
}

function valueOf(cell: Cell, cells: CacheView<Cell>): NonNullable<Cell["status"]> {
  const { name, namespace = "" } = cell.metadata;
  const find = (other: string): Cell | undefined => cells.find({ namespace, name: other });
  try {
    const expression = parseFormula(cell.spec.formula);
    const circle = circleThrough(name, (other) => usedCells(find(other)));
    if (circle !== undefined) throw new FormulaError(`circular: ${circle.join(" → ")}`);
    return { value: calculate(expression, (other) => knownValue(other, find(other))) };
  } catch (error) {
    if (error instanceof FormulaError) return { error: error.message };
    throw error;
  }
}

/** An empty cell counts as 0. A cell that is not calculated yet does, too: its value wakes this cell again. */
function knownValue(name: string, cell: Cell | undefined): number {
  if (cell?.status?.error !== undefined) throw new FormulaError(`${name} has an error`);
  return cell?.status?.value ?? 0;
}

function usedCells(cell: Cell | undefined): readonly string[] {
  if (cell === undefined) return [];
  try {
    return cellsOf(parseFormula(cell.spec.formula));
  } catch {
    return [];
  }
}

/** The way from a cell back to itself, or undefined. */
function circleThrough(
  start: string,
  usedBy: (cell: string) => readonly string[],
): readonly string[] | undefined {
  const cameFrom = new Map<string, string>();
  const open = [start];
  for (let cell = open.pop(); cell !== undefined; cell = open.pop()) {
    for (const used of usedBy(cell)) {
      if (used === start) return wayTo(cell, cameFrom, start);
      if (cameFrom.has(used)) continue;
      cameFrom.set(used, cell);
      open.push(used);
    }
  }
  return undefined;
}

function wayTo(last: string, cameFrom: ReadonlyMap<string, string>, start: string): readonly string[] {
  const way = [start];
  for (let cell: string | undefined = last; cell !== undefined && cell !== start; cell = cameFrom.get(cell))
    way.unshift(cell);
  return [start, ...way];
}
