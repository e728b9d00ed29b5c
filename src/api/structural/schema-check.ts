/** Checks the OpenAPI schema of a CustomResourceDefinition, node by node. */
import type { FieldErrors, FieldPath } from "../errors/field-error.ts";
import type { JSONSchemaProps, ValidationRule } from "../generated/types/apiextensions-v1.ts";
import { checkListMarks } from "./list-mark-check.ts";
import { isSchema } from "./structural.ts";

const TYPES = ["array", "boolean", "integer", "number", "object", "string"];
const OBJECT_FIELDS: ReadonlySet<string> = new Set(["metadata", "kind", "apiVersion"]);
const REASONS = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/** Context of a node. */
interface Place {
  readonly path: FieldPath;
  readonly errors: FieldErrors;
  readonly isRoot: boolean;
  /** True within the metadata of an object. */
  readonly isMeta: boolean;
  /** Reason why this place forbids a default; `undefined` when it allows one. */
  readonly noDefault: string | undefined;
}

export function checkSchema(schema: JSONSchemaProps, path: FieldPath, errors: FieldErrors): void {
  checkNode(schema, { path, errors, isRoot: true, isMeta: false, noDefault: undefined });
}

function checkNode(schema: JSONSchemaProps, place: Place): void {
  checkSupported(schema, place);
  checkAdditional(schema, place);
  const { path, errors } = place;
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    checkNode(property, propertyPlace(schema, name, place));
  const inner = { ...place, isRoot: false };
  if (schema.not !== undefined) checkNode(schema.not, { ...inner, path: path.child("not") });
  for (const name of ["allOf", "oneOf", "anyOf"] as const) {
    for (const [at, nested] of (schema[name] ?? []).entries())
      checkNode(nested, { ...inner, path: path.child(name).index(at) });
  }
  if (isSchema(schema.items)) checkNode(schema.items, { ...inner, path: path.child("items") });
  if (schema["x-kubernetes-preserve-unknown-fields"] === false)
    errors.invalid(path.child("x-kubernetes-preserve-unknown-fields"), false, "must be true or undefined");
  checkMapType(schema, place);
  checkListMarks(schema, path, errors);
  for (const [at, rule] of (schema["x-kubernetes-validations"] ?? []).entries())
    checkRule(rule, path.child("x-kubernetes-validations").index(at), errors);
}

/** True when the schema, or one below it, has `$schema`. Upstream refuses that only when there is no other error. */
export function namesSchema(schema: JSONSchemaProps): boolean {
  const { items, additionalProperties, properties = {}, not, allOf = [], oneOf = [], anyOf = [] } = schema;
  if ((schema.$schema ?? "") !== "") return true;
  const single = [items, additionalProperties, not].filter(isSchema);
  return [...single, ...Object.values(properties), ...allOf, ...oneOf, ...anyOf].some(namesSchema);
}

function propertyPlace(schema: JSONSchemaProps, name: string, place: Place): Place {
  const isObjectField =
    (place.isRoot || schema["x-kubernetes-embedded-resource"] === true) && OBJECT_FIELDS.has(name);
  return {
    path: place.path.child("properties").key(name),
    errors: place.errors,
    isRoot: false,
    isMeta: place.isMeta || isObjectField,
    noDefault: isObjectField && place.isRoot ? ` in top-level ${name}` : place.noDefault,
  };
}

/** JSON Schema keywords that structural schemas forbid. */
const UNSUPPORTED = [
  "id",
  "additionalItems",
  "patternProperties",
  "definitions",
  "dependencies",
  "$ref",
] as const;

function checkSupported(schema: JSONSchemaProps, { path, errors, isMeta, noDefault }: Place): void {
  const { type = "" } = schema;
  if (type !== "" && !TYPES.includes(type)) errors.notSupported(path.child("type"), type, TYPES);
  if (schema.default !== undefined && noDefault !== undefined)
    errors.forbidden(path.child("default"), `must not be set${noDefault}`);
  for (const name of UNSUPPORTED) {
    if (schema[name] !== undefined) errors.forbidden(path.child(name), `${name} is not supported`);
  }
  checkUses(schema, { path, errors, isMeta });
}

function checkUses(
  schema: JSONSchemaProps,
  { path, errors, isMeta }: Pick<Place, "path" | "errors" | "isMeta">,
): void {
  if (schema.type === "null")
    errors.forbidden(path.child("type"), "type cannot be set to null, use nullable as an alternative");
  if (Array.isArray(schema.items))
    errors.forbidden(path.child("items"), "items must be a schema object and not an array");
  if (isMeta && schema["x-kubernetes-embedded-resource"] === true)
    errors.forbidden(
      path.child("x-kubernetes-embedded-resource"),
      "must not be used inside of resource meta",
    );
  if (schema.uniqueItems === true)
    errors.forbidden(
      path.child("uniqueItems"),
      "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
    );
}

function checkAdditional({ additionalProperties, properties }: JSONSchemaProps, place: Place): void {
  if (additionalProperties === undefined) return;
  const path = place.path.child("additionalProperties");
  const isNamed = Object.keys(properties ?? {}).length > 0;
  if (isNamed && additionalProperties !== true)
    place.errors.forbidden(path, "additionalProperties and properties are mutual exclusive");
  if (!isSchema(additionalProperties)) return;
  const noDefault = place.isMeta
    ? " inside additionalProperties applying to object metadata"
    : place.noDefault;
  checkNode(additionalProperties, { ...place, path, isRoot: false, noDefault });
}

function checkMapType(schema: JSONSchemaProps, { path, errors }: Place): void {
  const mapType = schema["x-kubernetes-map-type"];
  if (mapType === undefined) return;
  const { type = "" } = schema;
  const detail = "must be object if x-kubernetes-map-type is specified";
  if (type === "") errors.required(path.child("type"), detail);
  else if (type !== "object") errors.invalid(path.child("type"), type, detail);
  if (mapType !== "atomic" && mapType !== "granular")
    errors.notSupported(path.child("x-kubernetes-map-type"), mapType, ["atomic", "granular"]);
}

/** Checks the form of a rule. Its expression is checked where expressions are compiled. */
function checkRule(given: ValidationRule, path: FieldPath, errors: FieldErrors): void {
  const { messageExpression = "", fieldPath = "", reason } = given;
  checkMessage(given, path, errors);
  if (messageExpression !== "" && messageExpression.trim() === "")
    errors.required(path.child("messageExpression"), "messageExpression must be non-empty if specified");
  if (reason !== undefined && !REASONS.includes(reason))
    errors.notSupported(path.child("reason"), reason, REASONS);
  if (fieldPath !== "" && fieldPath.trim() === "")
    errors.invalid(path.child("fieldPath"), fieldPath, "must be non-empty if specified");
  if (hasBreaks(fieldPath))
    errors.invalid(path.child("fieldPath"), fieldPath, "must not contain line breaks");
}

function checkMessage({ rule, message = "" }: ValidationRule, path: FieldPath, errors: FieldErrors): void {
  const text = rule.trim();
  const spoken = message.trim();
  if (text === "") errors.required(path.child("rule"), "rule is not specified");
  else if (message !== "" && spoken === "")
    errors.invalid(path.child("message"), message, "must be non-empty if specified");
  else if (hasBreaks(spoken)) errors.invalid(path.child("message"), message, "must not contain line breaks");
  else if (hasBreaks(text) && spoken === "")
    errors.required(path.child("message"), "message must be specified if rule contains line breaks");
}

function hasBreaks(text: string): boolean {
  return /[\n\r]/.test(text);
}
