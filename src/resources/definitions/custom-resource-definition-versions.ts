/**
 * Validates the versions of a CustomResourceDefinition: schema, subresources, columns, selectable fields.
 * Parts that are equal in all versions are reported once, at upstream's path for them.
 */
import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import { fieldPath } from "../../api/errors/field-error.ts";
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionVersion,
  CustomResourceSubresourceScale,
  JSONSchemaProps,
  SelectableField,
} from "../../api/generated/types/apiextensions-v1.ts";
import { findFieldNames } from "../../api/json/json-path.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import { checkDefaults } from "../../api/structural/default-check.ts";
import { checkExpressionDefinitions } from "../../api/structural/expression-definition-check.ts";
import { checkSchema, namesSchema } from "../../api/structural/schema-check.ts";
import { havePatternsInExcess } from "../../api/structural/schema-patterns.ts";
import { checkStructural } from "../../api/structural/structural-check.ts";
import { compileStructural } from "../../api/structural/structural.ts";
import { firstByText } from "../rules/value-rules.ts";

type Version = CustomResourceDefinitionVersion;

const SPEC = fieldPath("spec");
const COLUMN_TYPES = ["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
/** Limit equals upstream's. */
const SELECTABLE_MAX = 8;
/** Fields that the root of a schema may have when the status subresource is enabled. */
const ROOT_FIELDS = [
  "Description",
  "Type",
  "Format",
  "Title",
  "Maximum",
  "ExclusiveMaximum",
  "Minimum",
  "ExclusiveMinimum",
  "MaxLength",
  "MinLength",
  "Pattern",
  "MaxItems",
  "MinItems",
  "UniqueItems",
  "MultipleOf",
  "Required",
  "Items",
  "Properties",
  "ExternalDocs",
  "Example",
  "XPreserveUnknownFields",
  "XValidations",
];

/** Skips parts that equal those of `previous`: earlier, more lenient rules may have accepted them. */
export function checkVersionParts(
  versions: readonly Version[],
  previous: readonly Version[],
  errors: FieldErrors,
): void {
  checkSchemas(versions, previous, errors);
  for (const { value, path } of partsOf(versions, "subresources", "subresources")) {
    if (value?.scale !== undefined) checkScale(value.scale, path, errors);
  }
  for (const { value = [], path } of partsOf(
    versions,
    "additionalPrinterColumns",
    "additionalPrinterColumns",
  )) {
    for (const [at, column] of value.entries()) checkColumn(column, path.index(at), errors);
  }
  for (const { version, value = [], path } of partsOf(versions, "selectableFields", "selectableFields"))
    checkSelectable(value, version.schema?.openAPIV3Schema ?? {}, { path, errors });
}

function checkSchemas(versions: readonly Version[], previous: readonly Version[], errors: FieldErrors): void {
  const hasStatus = versions.some(({ subresources }) => subresources?.status !== undefined);
  if (havePatternsInExcess(versions.map(({ schema }) => schema))) {
    errors.forbidden(SPEC.child("versions"), "the regular expressions of all schemas are too large together");
    return;
  }
  const known = firstByText(previous, ({ name }) => name);
  for (const { version, value, path } of partsOf(versions, "schema", "validation")) {
    const isKnown = jsonEqual(known.get(version.name)?.schema, value);
    if (value?.openAPIV3Schema !== undefined && !isKnown)
      checkVersionSchema(value.openAPIV3Schema, { path: path.child("openAPIV3Schema"), hasStatus, errors });
  }
}

interface Part<K extends keyof Version> {
  readonly version: Version;
  readonly value: Version[K];
  readonly path: FieldPath;
}

function partsOf<K extends keyof Version>(
  versions: readonly Version[],
  name: K & string,
  common: string,
): readonly Part<K>[] {
  const [first] = versions;
  const isCommon = versions.every(
    (version) => version[name] !== undefined && jsonEqual(version[name], first?.[name]),
  );
  if (first !== undefined && isCommon)
    return [{ version: first, value: first[name], path: SPEC.child(common) }];
  return versions.map((version, at) => ({
    version,
    value: version[name],
    path: SPEC.child("versions").index(at).child(name),
  }));
}

interface SchemaPlace {
  readonly path: FieldPath;
  readonly hasStatus: boolean;
  readonly errors: FieldErrors;
}

function checkVersionSchema(schema: JSONSchemaProps, { path, hasStatus, errors }: SchemaPlace): void {
  if (hasStatus) checkRootFields(schema, path, errors);
  if (schema.nullable === true)
    errors.forbidden(path.child("nullable"), "nullable cannot be true at the root");
  const before = errors.count;
  if (namesSchema(schema)) {
    checkSchema(schema, path, errors);
    if (errors.count === before) errors.invalid(path, "", "OpenAPIV3Schema 'schema' is not supported");
    return;
  }
  checkStructural(schema, path, errors);
  const isStructural = errors.count === before;
  checkSchema(schema, path, errors);
  if (!isStructural || errors.count > before) return;
  const structural = compileStructural(schema);
  // A default of the whole object is itself an API object.
  checkDefaults({ ...structural, isEmbedded: true }, path, errors);
  checkExpressionDefinitions(structural, path, errors);
}

function checkRootFields(schema: JSONSchemaProps, path: FieldPath, errors: FieldErrors): void {
  const { type = "" } = schema;
  const only = "at the root of the schema if the status subresource is enabled";
  if (type !== "" && type !== "object")
    errors.invalid(path.child("type"), type, `only "object" is allowed as the type ${only}`);
  const isAllowed = Object.keys(schema).every((name) => ROOT_FIELDS.includes(goName(name)));
  if (!isAllowed) errors.invalid(path, schema, `only [${ROOT_FIELDS.join(" ")}] fields are allowed ${only}`);
}

/** `x-kubernetes-preserve-unknown-fields` is `XPreserveUnknownFields` in Go. */
function goName(name: string): string {
  return name
    .replace(/^x-kubernetes-/, "x-")
    .split("-")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}

function checkScale(scale: CustomResourceSubresourceScale, path: FieldPath, errors: FieldErrors): void {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath = "" } = scale;
  checkScalePath(
    specReplicasPath,
    { path: path.child("scale", "specReplicasPath"), under: [".spec"] },
    errors,
  );
  checkScalePath(
    statusReplicasPath,
    { path: path.child("scale", "statusReplicasPath"), under: [".status"] },
    errors,
  );
  if (labelSelectorPath === "") return;
  const place = { path: path.child("scale", "labelSelectorPath"), under: [".spec", ".status"] };
  checkScalePath(labelSelectorPath, place, errors);
}

function checkScalePath(
  text: string,
  { path, under }: { readonly path: FieldPath; readonly under: readonly string[] },
  errors: FieldErrors,
): void {
  if (text === "") errors.required(path);
  else if (!text.startsWith(".")) errors.invalid(path, text, "must be a simple json path starting with .");
  else if (!under.some((root) => text.startsWith(`${root}.`))) {
    const roots = under.length === 1 ? `under ${under.join("")}` : `under either ${under.join(" or ")}`;
    errors.invalid(path, text, `should be a json path ${roots}`);
  } else if (findFieldNames(text) === undefined)
    errors.invalid(path, text, "must be a json path in the dot notation");
}

function checkColumn(column: CustomResourceColumnDefinition, path: FieldPath, errors: FieldErrors): void {
  const { name, type, format = "", jsonPath } = column;
  if (name === "") errors.required(path.child("name"));
  const types = `must be one of ${COLUMN_TYPES.join(",")}`;
  if (type === "") errors.required(path.child("type"), types);
  else if (!COLUMN_TYPES.includes(type)) errors.invalid(path.child("type"), type, types);
  if (format !== "" && !COLUMN_FORMATS.includes(format))
    errors.invalid(path.child("format"), format, `must be one of ${COLUMN_FORMATS.join(",")}`);
  if (jsonPath === "") errors.required(path.child("JSONPath"));
  else if (!jsonPath.startsWith("."))
    errors.invalid(path.child("JSONPath"), jsonPath, "must be a simple json path starting with .");
}

function checkSelectable(
  fields: readonly SelectableField[],
  schema: JSONSchemaProps,
  { path, errors }: { readonly path: FieldPath; readonly errors: FieldErrors },
): void {
  const seen = new Set<string>();
  for (const [at, { jsonPath }] of fields.entries()) {
    const place = path.index(at).child("jsonPath");
    if (jsonPath === "") {
      errors.required(place);
      continue;
    }
    const names = /^\.[^[]*$/.test(jsonPath) ? findFieldNames(jsonPath) : undefined;
    const target = names === undefined ? undefined : schemaAt(schema, names);
    if (names === undefined || target === undefined) {
      errors.invalid(place, jsonPath, `is an invalid path: ${pathMistake(jsonPath, schema)}`);
      continue;
    }
    if (names[0] === "metadata") errors.invalid(place, jsonPath, "must not point to fields in metadata");
    if (!["string", "boolean", "integer"].includes(target.type ?? ""))
      errors.invalid(
        place,
        jsonPath,
        "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.",
      );
    if (seen.has(jsonPath)) errors.duplicate(place, jsonPath);
    seen.add(jsonPath);
  }
  if (seen.size > SELECTABLE_MAX) errors.tooMany(path, seen.size, SELECTABLE_MAX);
}

/** The first mistake in reading order. */
function pathMistake(jsonPath: string, schema: JSONSchemaProps): string {
  const { first } = /^(?<first>[^.[]+)/.exec(jsonPath)?.groups ?? {};
  if (first !== undefined) return `expected [ or . but got: ${first}`;
  const bracket = jsonPath.indexOf("[");
  const names = bracket > 0 ? findFieldNames(jsonPath.slice(0, bracket)) : [];
  const isField = bracket >= 0 && names !== undefined && schemaAt(schema, names) !== undefined;
  return isField ? "array notation is not allowed" : "does not refer to a valid field";
}

function schemaAt(schema: JSONSchemaProps, names: readonly string[]): JSONSchemaProps | undefined {
  let at: JSONSchemaProps | undefined = schema;
  for (const name of names) {
    const properties: Readonly<Record<string, JSONSchemaProps>> = at?.properties ?? {};
    at = Object.hasOwn(properties, name) ? properties[name] : undefined;
  }
  return at;
}
