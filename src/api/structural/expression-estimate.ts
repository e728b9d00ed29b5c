/** Upper bounds on the cost of a CEL rule: for one run, and for all runs on one object. */
import type { Program } from "../cel/program.ts";
import { multiplySaturating } from "../cel/uint64.ts";
import type { SizeHints } from "../cel/value-path.ts";
import type { ExpressionPlace } from "./expression-places.ts";
import { cardinalityOf } from "./expression-size.ts";
import { minBytesOf, typeOfSchema } from "./expression-types.ts";

export interface RuleEstimate {
  readonly perRun: bigint;
  /** Most values of the schema that fit into a request. */
  readonly maxCardinality: bigint;
  readonly total: bigint;
}

export function estimateRule(program: Program, place: ExpressionPlace): RuleEstimate {
  const perRun = estimateRun(program, place);
  const maxCardinality = BigInt(cardinalityOf(minBytesOf(place.schema, place.level)));
  return { perRun, maxCardinality, total: multiplySaturating(perRun, place.cardinality ?? maxCardinality) };
}

/** Cost of one run. All paths start at the rule's own value, so `oldSelf` has the bounds of `self`. */
export function estimateRun(program: Program, { schema, level }: ExpressionPlace): bigint {
  const type = typeOfSchema(schema, level);
  const hints: SizeHints = { rootOf: () => type };
  return program.estimate(hints);
}
