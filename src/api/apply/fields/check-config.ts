/**
 * Checks that an applied configuration has the types of its schema. An unknown field is an error, while other writes drop
 * it. Texts are upstream's, but show a value's type instead of the value: errors reach audit logs, and values may be secret.
 */
import { isJsonObject, type JsonObject } from "../../json/json-object.ts";
import { goTypeName } from "../../patch/go-text.ts";
import type {
  ListSchema,
  MapSchema,
  ScalarSchema,
  ScalarType,
  Schema,
  StructSchema,
} from "../../schema/schema.ts";
import { elementText, fieldElement, itemElement, itemMistake } from "./path-element.ts";

/** Upper bound of reported mistakes; more would mostly repeat one mistake. */
const MISTAKES_MAX = 20;

/**
 * The mistakes: `.spec.foo: field not declared in schema`, or several on lines of their own. `undefined` when there is none.
 */
export function findConfigMistakes(config: JsonObject, schema: StructSchema): string | undefined {
  const mistakes: string[] = [];
  checkValue(config, schema, { mistakes, parent: undefined, element: "" });
  if (mistakes.length <= 1) return mistakes[0];
  return ["errors:", ...mistakes.map((mistake) => `  ${mistake}`)].join("\n");
}

/** Path of a value. Its text is made only when there is a mistake to report. */
interface Place {
  readonly mistakes: string[];
  readonly parent: Place | undefined;
  readonly element: string;
}

function checkValue(value: unknown, schema: Schema, place: Place): void {
  if (value === null || value === undefined) return;
  if (schema.type === "struct" || schema.type === "map") return checkMap(value, schema, place);
  if (schema.type === "list") return checkList(value, schema, place);
  if (schema.type !== "either") checkScalar(value, schema, place);
}

function checkMap(value: unknown, schema: StructSchema | MapSchema, place: Place): void {
  if (!isJsonObject(value)) return report(place, `expected map, got ${goTypeName(value)}`);
  for (const key of Object.keys(value)) {
    const inner = below(place, fieldElement(key));
    const member = schema.type === "map" ? schema.values : schema.byName.get(key)?.schema;
    if (member !== undefined) checkValue(value[key], member, inner);
    else if (schema.type === "struct" && !schema.keepsUnknown) report(inner, "field not declared in schema");
  }
}

function checkList(value: unknown, schema: ListSchema, place: Place): void {
  if (!Array.isArray(value)) return report(place, `expected list, got ${goTypeName(value)}`);
  const seen = new Set<string>();
  for (const [at, item] of value.entries()) {
    const mistake = schema.listType === "atomic" ? undefined : itemMistake(schema, item);
    if (mistake !== undefined) return report(place, `element ${at}: ${mistake}`);
    const element = schema.listType === "atomic" ? `i:${at}` : itemElement(schema, item);
    if (seen.has(element)) report(place, `duplicate entries for key ${elementText(element)}`);
    seen.add(element);
    checkValue(item, schema.items, below(place, element));
  }
}

function below(parent: Place, element: string): Place {
  return { mistakes: parent.mistakes, parent, element };
}

function placeText({ parent, element }: Place): string {
  return parent === undefined ? "" : `${placeText(parent)}${elementText(element)}`;
}

function checkScalar(value: unknown, schema: ScalarSchema, place: Place): void {
  const expectation = EXPECTATIONS[schema.type];
  if (expectation !== undefined && !expectation.accepts(value)) report(place, expectation.refusal(value));
}

interface Expectation {
  accepts(value: unknown): boolean;
  refusal(value: unknown): string;
}

const TEXT: Expectation = {
  accepts: (value) => typeof value === "string",
  refusal: (value) => `expected string, got ${goTypeName(value)}`,
};
const NUMERIC: Expectation = {
  accepts: (value) => typeof value === "number" || typeof value === "bigint",
  refusal: (value) => `expected numeric (int or float), got ${goTypeName(value)}`,
};
const ANY_SCALAR: Expectation = {
  accepts: (value) => typeof value !== "object",
  refusal: (value) => `expected any scalar, got ${goTypeName(value)}`,
};
const EXPECTATIONS: Readonly<Record<ScalarType, Expectation | undefined>> = {
  string: TEXT,
  bytes: TEXT,
  int32: NUMERIC,
  int64: NUMERIC,
  float: NUMERIC,
  boolean: {
    accepts: (value) => typeof value === "boolean",
    refusal: (value) => `expected boolean, got ${goTypeName(value)}`,
  },
  quantity: ANY_SCALAR,
  time: ANY_SCALAR,
  microTime: ANY_SCALAR,
  intOrString: ANY_SCALAR,
  raw: undefined,
};

function report(place: Place, mistake: string): void {
  if (place.mistakes.length >= MISTAKES_MAX) return;
  const path = placeText(place);
  place.mistakes.push(path === "" ? mistake : `${path}: ${mistake}`);
}
