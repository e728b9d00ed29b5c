/** Lists every part of a schema with CEL rules, with the context that its rules depend on. */
import { multiplySaturating } from "../cel/uint64.ts";
import type { FieldPath } from "../errors/field-error.ts";
import type { Structural } from "./structural.ts";

export interface ExpressionPlace {
  readonly schema: Structural;
  readonly path: FieldPath;
  readonly level: "root" | "part";
  /** Nearest list around it without item keys, where previous values are unknown. */
  readonly uncorrelated: FieldPath | undefined;
  /** Upper bound of the values of this schema in an object; undefined when the schema has none. */
  readonly cardinality: bigint | undefined;
}

/** The places in the schema; each place comes before those below it. */
export function* expressionPlaces(schema: Structural, path: FieldPath): Generator<ExpressionPlace> {
  yield* placesFrom({ schema, path, level: "root", uncorrelated: undefined, cardinality: 1n });
}

function* placesFrom(place: ExpressionPlace): Generator<ExpressionPlace> {
  const { schema, path } = place;
  if (!schema.hasExpressions) return;
  if (schema.expressions.length > 0) yield place;
  if (schema.items !== undefined) yield* placesFrom(itemsPlace(place, schema.items));
  if (typeof schema.additional === "object")
    yield* placesFrom({
      ...place,
      schema: schema.additional,
      path: path.child("additionalProperties"),
      level: "part",
      cardinality: times(place.cardinality, schema.rules.maxProperties),
    });
  for (const [name, property] of schema.properties)
    yield* placesFrom({
      ...place,
      schema: property,
      path: path.child("properties").key(name),
      level: "part",
    });
}

function itemsPlace(place: ExpressionPlace, items: Structural): ExpressionPlace {
  const { schema, path, cardinality } = place;
  return {
    schema: items,
    path: path.child("items"),
    level: "part",
    uncorrelated: place.uncorrelated ?? (schema.listType === "map" ? undefined : path),
    cardinality: times(cardinality, schema.rules.maxItems),
  };
}

function times(count: bigint | undefined, max: number | undefined): bigint | undefined {
  if (count === undefined || max === undefined) return undefined;
  return multiplySaturating(count, BigInt(Math.max(0, max)));
}
