/** Actions of the property run on a store. Positions in history are fractions, so that an action is valid in every history. */
import * as fc from "fast-check";

/** Precondition about a key, relative to the model's state. */
export type Claim = "true" | "absent" | "stale";

export interface ModelChange {
  readonly key: number;
  readonly type: "put" | "delete";
  /** Time to live in units of the engine's; 0 for none. */
  readonly ttlUnits: number;
  readonly size: number;
}

export type ModelAction =
  | {
      readonly type: "write";
      readonly changes: readonly ModelChange[];
      readonly claims: readonly { readonly key: number; readonly claim: Claim }[];
    }
  /** Writes submitted at once, each to its own key. */
  | { readonly type: "burst"; readonly count: number }
  /** Writes submitted at once, all with the same precondition. */
  | { readonly type: "race"; readonly key: number; readonly count: number; readonly claim: Claim }
  | { readonly type: "read"; readonly at: number; readonly prefix: number }
  | { readonly type: "watch"; readonly after: number; readonly prefix: number }
  | { readonly type: "compact"; readonly at: number }
  | { readonly type: "elapse"; readonly ttlUnits: number }
  | { readonly type: "reopen" };

export const KEYS = ["a", "b", "pods/a", "pods/b", "pods/sub/c", "pods-x/a", "nodes/n"];
/** "" is the root of the test. */
export const PREFIXES = ["", "pods/", "pods/sub/", "pods", "pods/a", "nodes/", "nothing/"];

export interface ActionOptions {
  readonly durability: "none" | "durable";
  readonly time: "passes" | "stands";
}

export function actions({ durability, time }: ActionOptions): fc.Arbitrary<ModelAction[]> {
  const arbitraries: fc.WeightedArbitrary<ModelAction>[] = [
    { weight: 12, arbitrary: writes() },
    {
      weight: 2,
      arbitrary: fc.record({ type: fc.constant("burst" as const), count: fc.integer({ min: 2, max: 12 }) }),
    },
    { weight: 2, arbitrary: races() },
    {
      weight: 4,
      arbitrary: fc.record({ type: fc.constant("read" as const), at: fraction(), prefix: indexOf(PREFIXES) }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        type: fc.constant("watch" as const),
        after: fraction(),
        prefix: indexOf(PREFIXES),
      }),
    },
    { weight: 1, arbitrary: fc.record({ type: fc.constant("compact" as const), at: fraction() }) },
  ];
  if (time === "passes") {
    const elapse = fc.record({
      type: fc.constant("elapse" as const),
      ttlUnits: fc.integer({ min: 1, max: 3 }),
    });
    arbitraries.push({ weight: 2, arbitrary: elapse });
  }
  if (durability === "durable")
    arbitraries.push({ weight: 1, arbitrary: fc.constant({ type: "reopen" as const }) });
  return fc.array(fc.oneof(...arbitraries), { minLength: 1, maxLength: 50, size: "max" });
}

function writes(): fc.Arbitrary<ModelAction> {
  const change = fc.record({
    key: indexOf(KEYS),
    type: fc.constantFrom("put" as const, "put" as const, "delete" as const),
    ttlUnits: fc.constantFrom(0, 0, 0, 1, 2),
    size: fc.constantFrom(0, 1, 20, 3000),
  });
  return fc.record({
    type: fc.constant("write" as const),
    changes: fc.uniqueArray(change, { minLength: 1, maxLength: 4, selector: ({ key }) => key }),
    claims: fc.uniqueArray(fc.record({ key: indexOf(KEYS), claim: claims() }), {
      maxLength: 2,
      selector: ({ key }) => key,
    }),
  });
}

function races(): fc.Arbitrary<ModelAction> {
  const count = fc.integer({ min: 2, max: 5 });
  return fc.record({ type: fc.constant("race" as const), key: indexOf(KEYS), count, claim: claims() });
}

function claims(): fc.Arbitrary<Claim> {
  return fc.constantFrom("true" as const, "true" as const, "absent" as const, "stale" as const);
}

function indexOf(list: readonly string[]): fc.Arbitrary<number> {
  return fc.nat({ max: list.length - 1 });
}

/** Fraction of the way from the first revision to one beyond the newest. */
function fraction(): fc.Arbitrary<number> {
  return fc.noBias(fc.nat({ max: 1000 })).map((thousandths) => thousandths / 1000);
}
