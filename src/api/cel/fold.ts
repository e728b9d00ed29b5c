/** Evaluates macros that loop over a list or a map. */
import type { FoldExpr, FoldName } from "./ast.ts";
import { sortCost } from "./call-cost.ts";
import { CelEvaluationError } from "./cel-error.ts";
import { LIST_COST } from "./cost-unit.ts";
import { addEntry, type MapEntries, settle, type Evaluator, type EvaluatorPlanner } from "./evaluator.ts";
import { sortedBy } from "./library/collection.ts";
import type { Run } from "./run.ts";
import { CelList, CelMap, type CelValue, PlainList, PlainMap } from "./value.ts";

/** Cost of a macro besides its range, filter and body, by its expansion in cel-go. */
interface FoldCost {
  /** Cost of the result. */
  readonly once: number;
  readonly turn: number;
  /** Additional cost of an iteration that adds to the result. */
  readonly chosen: number;
}

/** Cost of making a list of one item and appending that list. */
const ADDING = LIST_COST + 1;
/** Effort of adding an item: this implementation appends to one list. */
const ADDING_EFFORT = 3;
const COSTS: Readonly<Record<FoldName, FoldCost>> = {
  all: { once: 1, turn: 3, chosen: 0 },
  exists: { once: 1, turn: 4, chosen: 0 },
  existsOne: { once: 2, turn: 1, chosen: 1 },
  filter: { once: 1, turn: 1, chosen: ADDING + 1 },
  // The name of the list is read twice.
  sortBy: { once: 3, turn: 1, chosen: ADDING },
  map: { once: 1, turn: 1, chosen: ADDING },
  transformList: { once: 1, turn: 1, chosen: ADDING },
  transformMap: { once: 1, turn: 1, chosen: 2 },
  transformMapEntry: { once: 1, turn: 1, chosen: 1 },
};

interface Fold {
  readonly range: Evaluator;
  readonly slots: readonly number[];
  readonly filter: Evaluator | undefined;
  readonly body: Evaluator;
  readonly cost: FoldCost;
}

export function planFold(expr: FoldExpr, planner: EvaluatorPlanner): Evaluator {
  const range = planner.plan(expr.range);
  const fold = planner.within(expr.variables, (slots): Fold => ({
    range,
    slots,
    filter: expr.filter === undefined ? undefined : planner.plan(expr.filter),
    body: planner.plan(expr.body),
    cost: COSTS[expr.name],
  }));
  const plan = FOLDS[expr.name];
  return (run) => {
    run.step(fold.cost.once);
    return plan(fold, run);
  };
}

/** Puts each pair into the slots in turn, until `turn` returns "stop". */
function eachTurn(fold: Fold, run: Run, turn: (key: CelValue) => "on" | "stop"): void {
  const range = fold.range(run);
  if (range instanceof CelList) eachItem(fold, range, { run, turn });
  else if (range instanceof CelMap) eachKey(fold, range, { run, turn });
  else throw new CelEvaluationError("no such overload");
}

interface Turning {
  readonly run: Run;
  readonly turn: (key: CelValue) => "on" | "stop";
}

function eachItem({ slots, cost }: Fold, list: CelList, { run, turn }: Turning): void {
  const [first = 0, second] = slots;
  for (let at = 0; at < list.size; at++) {
    run.step(cost.turn);
    if (second === undefined) run.slots[first] = list.at(at);
    else {
      run.slots[first] = BigInt(at);
      run.slots[second] = list.at(at);
    }
    if (turn(run.slots[first] ?? null) === "stop") return;
  }
}

function eachKey({ slots, cost }: Fold, map: CelMap, { run, turn }: Turning): void {
  const [first = 0, second] = slots;
  for (const key of map.keys()) {
    run.step(cost.turn);
    run.slots[first] = key;
    if (second !== undefined) run.slots[second] = map.find(key) ?? null;
    if (turn(key) === "stop") return;
  }
}

/** Evaluates `all` and `exists`. A deciding item hides the errors of other items. */
function decideAll(decisive: boolean): (fold: Fold, run: Run) => CelValue {
  return (fold, run) => {
    let failure: CelEvaluationError | undefined;
    let isDecided = false;
    eachTurn(fold, run, () => {
      const found = settle(fold.body, run);
      if (found instanceof CelEvaluationError) failure ??= found;
      isDecided = found === decisive;
      return isDecided ? "stop" : "on";
    });
    if (isDecided) return decisive;
    if (failure !== undefined) throw failure;
    return !decisive;
  };
}

function isTrue(value: CelValue): boolean {
  if (typeof value !== "boolean") throw new CelEvaluationError("no such overload");
  return value;
}

function existsOne(fold: Fold, run: Run): CelValue {
  let count = 0;
  eachTurn(fold, run, () => {
    if (!isTrue(fold.body(run))) return "on";
    run.step(fold.cost.chosen, ADDING_EFFORT);
    count += 1;
    return "on";
  });
  return count === 1;
}

function filterList(fold: Fold, run: Run): CelValue {
  const kept: CelValue[] = [];
  eachTurn(fold, run, (item) => {
    if (!isTrue(fold.body(run))) return "on";
    run.step(fold.cost.chosen, ADDING_EFFORT);
    kept.push(item);
    return "on";
  });
  return new PlainList(kept);
}

/** Sorts a list by the key that the body computes for each item. */
function sortList(fold: Fold, run: Run): CelValue {
  const range = fold.range(run);
  if (!(range instanceof CelList)) throw new CelEvaluationError("no such overload");
  const keys: CelValue[] = [];
  eachItem(fold, range, {
    run,
    turn: () => {
      run.step(fold.cost.chosen, ADDING_EFFORT);
      keys.push(fold.body(run));
      return "on";
    },
  });
  run.step(sortCost(new PlainList(keys)), 0);
  return sortedBy(range, keys, run);
}

function transformList(fold: Fold, run: Run): CelValue {
  const made: CelValue[] = [];
  eachTurn(fold, run, () => {
    if (isChosen(fold, run)) made.push(fold.body(run));
    return "on";
  });
  return new PlainList(made);
}

function isChosen({ filter, cost }: Fold, run: Run): boolean {
  if (filter !== undefined && !isTrue(filter(run))) return false;
  run.step(cost.chosen, ADDING_EFFORT);
  return true;
}

function transformMap(fold: Fold, run: Run): CelValue {
  const made: MapEntries = new Map();
  eachTurn(fold, run, (key) => {
    if (isChosen(fold, run)) addEntry(made, key, fold.body(run));
    return "on";
  });
  return new PlainMap(made);
}

function transformMapEntry(fold: Fold, run: Run): CelValue {
  const made: MapEntries = new Map();
  eachTurn(fold, run, () => {
    const entries = isChosen(fold, run) ? fold.body(run) : undefined;
    if (entries === undefined) return "on";
    if (!(entries instanceof CelMap)) throw new CelEvaluationError("no such overload");
    for (const key of entries.keys()) {
      run.charge(1);
      addEntry(made, key, entries.find(key) ?? null);
    }
    return "on";
  });
  return new PlainMap(made);
}

const FOLDS: Readonly<Record<FoldName, (fold: Fold, run: Run) => CelValue>> = {
  all: decideAll(false),
  exists: decideAll(true),
  existsOne,
  filter: filterList,
  sortBy: sortList,
  map: transformList,
  transformList,
  transformMap,
  transformMapEntry,
};
