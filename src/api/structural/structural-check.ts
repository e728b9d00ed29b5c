/**
 * Checks that a schema is structural: it specifies every value outside of `allOf`, `anyOf`, `oneOf` and `not`, which may
 * only restrict values. Only then are pruning and defaulting well defined.
 */
import { type FieldError, FieldErrors, type FieldPath, fieldErrorText } from "../errors/field-error.ts";
import { findPatternMistake } from "../formats/pattern.ts";
import type { JSONSchemaProps } from "../generated/types/apiextensions-v1.ts";
import { jsonEqual } from "../patch/json-equal.ts";
import { compareNames } from "../schema/schema.ts";
import { checkComplete } from "./completeness-check.ts";
import { isSchema } from "./structural.ts";

type Level = "root" | "item" | "field";

interface Place {
  readonly level: Level;
  readonly path: FieldPath;
  readonly errors: FieldErrors;
}

/** Checks the schema. Errors are sorted by text, as upstream reports them. */
export function checkStructural(schema: JSONSchemaProps, path: FieldPath, errors: FieldErrors): void {
  const found = new FieldErrors();
  checkNode(schema, { level: "root", path, errors: found });
  checkComplete(schema, path, found);
  errors.append(found.found.toSorted(byText));
}

function byText(left: FieldError, right: FieldError): number {
  return compareNames(fieldErrorText(left), fieldErrorText(right));
}

function checkNode(schema: JSONSchemaProps, place: Place): void {
  const { path, errors } = place;
  const items = isSchema(schema.items) ? schema.items : undefined;
  if (schema.type === "array" && schema.items === undefined)
    errors.required(path.child("items"), "must be specified");
  if (items !== undefined) checkNode(items, { level: "item", path: path.child("items"), errors });
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    checkNode(property, { level: "field", path: path.child("properties").key(name), errors });
  checkAdditional(schema, place);
  checkExtensions(schema, place);
  checkBranches(schema, place, intOrStringParts(schema));
  checkType(schema, place);
  checkObjectFields(schema, place);
}

function checkAdditional({ additionalProperties, ...schema }: JSONSchemaProps, place: Place): void {
  if (additionalProperties === undefined) return;
  const { level, errors } = place;
  const path = place.path.child("additionalProperties");
  if (level === "root") errors.forbidden(path, "must not be used at the root");
  if (isSchema(additionalProperties)) checkNode(additionalProperties, { level: "field", path, errors });
  if (schema["x-kubernetes-embedded-resource"] === true)
    errors.forbidden(path, "must not be used if x-kubernetes-embedded-resource is set");
}

function checkExtensions(schema: JSONSchemaProps, { path, errors }: Place): void {
  if (schema["x-kubernetes-int-or-string"] !== true) return;
  for (const name of ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] as const) {
    if (schema[name] === true)
      errors.invalid(path.child(name), true, "must be false if x-kubernetes-int-or-string is true");
  }
}

const EMPTY_TYPE: Readonly<Record<Level, string>> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};

function checkType(schema: JSONSchemaProps, { level, path, errors }: Place): void {
  const { type = "" } = schema;
  const at = path.child("type");
  const isFree =
    schema["x-kubernetes-int-or-string"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true;
  if (schema["x-kubernetes-embedded-resource"] === true && type !== "object") {
    const detail = "must be object if x-kubernetes-embedded-resource is true";
    if (type === "") errors.required(at, detail);
    else errors.invalid(at, type, detail);
  } else if (type === "" && !isFree) errors.required(at, EMPTY_TYPE[level]);
  if (level === "root" && type !== "" && type !== "object")
    errors.invalid(at, type, "must be object at the root");
}

/** Checks that apiVersion, kind and metadata are not redefined. */
function checkObjectFields(schema: JSONSchemaProps, place: Place): void {
  const { level, path, errors } = place;
  const { properties = {} } = schema;
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  if (level === "root" || isEmbedded) checkObjectFieldTypes(properties, place);
  if (level === "root" && Object.hasOwn(properties, "metadata") && !isPlainMetadata(properties["metadata"]))
    errors.forbidden(
      path.child("properties").key("metadata"),
      "must not specify anything other than name and generateName, but metadata is implicitly specified",
    );
  const saysNothing =
    Object.keys(properties).length === 0 && schema["x-kubernetes-preserve-unknown-fields"] !== true;
  if (isEmbedded && saysNothing)
    errors.required(
      path.child("properties"),
      "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
    );
}

function checkObjectFieldTypes(
  properties: Readonly<Record<string, JSONSchemaProps>>,
  { path, errors }: Place,
): void {
  for (const [name, expected] of Object.entries(OBJECT_FIELD_TYPES)) {
    if (!Object.hasOwn(properties, name)) continue;
    const type = properties[name]?.type ?? "";
    const at = path.child("properties").key(name).child("type");
    if (type !== expected) errors.invalid(at, type, `must be ${expected}`);
  }
}

const OBJECT_FIELD_TYPES: Readonly<Record<string, string>> = {
  kind: "string",
  apiVersion: "string",
  metadata: "object",
};

function isPlainMetadata(metadata: JSONSchemaProps = {}): boolean {
  const { type: _, default: __, properties = {}, ...others } = metadata;
  const isNamed = Object.keys(properties).every((name) => name === "name" || name === "generateName");
  return isNamed && Object.keys(others).length === 0;
}

/** The parts in which types are allowed, because they only say that the value is an integer or a string. */
interface IntOrStringParts {
  readonly anyOf: boolean;
  readonly firstAllOf: boolean;
}

const NO_PARTS: IntOrStringParts = { anyOf: false, firstAllOf: false };
const INTEGER_OR_STRING = [{ type: "integer" }, { type: "string" }];

function intOrStringParts({ anyOf, allOf }: JSONSchemaProps): IntOrStringParts {
  return {
    anyOf: jsonEqual(anyOf, INTEGER_OR_STRING),
    firstAllOf: jsonEqual(allOf?.[0]?.anyOf, INTEGER_OR_STRING),
  };
}

function checkBranches(schema: JSONSchemaProps, place: Place, parts: IntOrStringParts): void {
  const { path, errors } = place;
  if (!parts.anyOf) checkAll(schema.anyOf, "anyOf", place);
  for (const [at, nested] of (schema.allOf ?? []).entries()) {
    const inner = { anyOf: parts.firstAllOf && at === 0, firstAllOf: false };
    checkNested(nested, { ...place, path: path.child("allOf").index(at) }, inner);
  }
  checkAll(schema.oneOf, "oneOf", place);
  if (schema.not !== undefined) checkNested(schema.not, { ...place, path: path.child("not") }, NO_PARTS);
  const { pattern = "" } = schema;
  const mistake = pattern === "" ? undefined : findPatternMistake(pattern);
  if (mistake !== undefined)
    errors.invalid(
      path.child("pattern"),
      pattern,
      `must be a valid regular expression, but isn't: ${mistake}`,
    );
}

function checkAll(schemas: readonly JSONSchemaProps[] | undefined, name: string, place: Place): void {
  for (const [at, nested] of (schemas ?? []).entries())
    checkNested(nested, { ...place, path: place.path.child(name).index(at) }, NO_PARTS);
}

/** Keywords forbidden in a branch, with upstream's requirement. */
const STRUCTURE: readonly (readonly [name: keyof JSONSchemaProps, must: string])[] = [
  ["type", "empty"],
  ["additionalProperties", "undefined"],
  ["default", "undefined"],
  ["title", "empty"],
  ["description", "empty"],
  ["nullable", "false"],
  ["externalDocs", "undefined"],
  ["x-kubernetes-preserve-unknown-fields", "false"],
  ["x-kubernetes-embedded-resource", "false"],
  ["x-kubernetes-int-or-string", "false"],
  ["x-kubernetes-list-map-keys", "empty"],
  ["x-kubernetes-list-type", "undefined"],
  ["x-kubernetes-map-type", "undefined"],
  ["x-kubernetes-validations", "empty"],
];

function checkNested(schema: JSONSchemaProps, place: Place, parts: IntOrStringParts): void {
  const { path, errors } = place;
  checkBranches(schema, place, parts);
  if (isSchema(schema.items)) checkNested(schema.items, { ...place, path: path.child("items") }, NO_PARTS);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const at = path.child("properties").key(name);
    checkNested(property, { level: "field", path: at, errors }, NO_PARTS);
    if (name === "metadata") errors.forbidden(at, "must not be specified in a nested context");
  }
  for (const [name, must] of STRUCTURE) {
    if (schema[name] !== undefined) errors.forbidden(path.child(name), `must be ${must} to be structural`);
  }
}
