/** Cost estimates of all CEL rules of a schema. */
import { fieldPath } from "../../../src/api/errors/field-error.ts";
import type { JSONSchemaProps } from "../../../src/api/generated/types/apiextensions-v1.ts";
import { estimateRule } from "../../../src/api/structural/expression-estimate.ts";
import { type ExpressionPlace, expressionPlaces } from "../../../src/api/structural/expression-places.ts";
import { type Expression, expressionsOf } from "../../../src/api/structural/expression-rules.ts";
import { compileStructural } from "../../../src/api/structural/structural.ts";

/** Estimates in the format in which upstream's figures are kept. */
export interface Estimate {
  /** Path of the value that carries the rule: `.spec.ports[]`. */
  readonly path: string;
  readonly index: number;
  /** Compile error of the rule. */
  readonly error?: string;
  readonly cost?: string;
  readonly maxCost?: string;
  readonly maxCardinality?: string;
  readonly cardinality?: string;
}

export function estimatesOf(schema: JSONSchemaProps): readonly Estimate[] {
  const places = [...expressionPlaces(compileStructural(schema), fieldPath("schema"))];
  return places.flatMap((place) =>
    (expressionsOf(place.schema, place.level)?.all ?? []).map((expression, index) => ({
      path: valuePath(place),
      index,
      ...estimateOf(expression, place),
    })),
  );
}

function estimateOf({ program }: Expression, place: ExpressionPlace): Omit<Estimate, "path" | "index"> {
  if ("mistake" in program) {
    const [error = ""] = program.mistake.replace(/^compilation failed: /, "").split("\n");
    return { error };
  }
  const { perRun, maxCardinality, total } = estimateRule(program.program, place);
  return {
    cost: String(total),
    maxCost: String(perRun),
    maxCardinality: String(maxCardinality),
    ...(place.cardinality !== undefined && { cardinality: String(place.cardinality) }),
  };
}

function valuePath({ path }: ExpressionPlace): string {
  return path
    .toString()
    .replace(/^schema/, "")
    .replaceAll(/\.properties\[([^\]]*)\]/g, ".$1")
    .replaceAll(/\.(?:items|additionalProperties)/g, "[]");
}
