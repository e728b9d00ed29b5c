/** CEL types of a structural schema. As in Kubernetes, integers and numbers are different types. */
import { KEYWORDS, RESERVED } from "../cel/parser.ts";
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  type FieldType,
  INT,
  type ListKeys,
  listOf,
  mapOf,
  objectType,
  STRING,
  TIMESTAMP,
} from "../cel/type.ts";
import { maxItemsOf, maxPropertiesOf, maxTextOf, minScalarBytes, TEXT_MAX } from "./expression-size.ts";
import type { Structural } from "./structural.ts";

const ESCAPABLE = /^[a-zA-Z_.\-/][a-zA-Z0-9_.\-/]*$/;
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["__", "__underscores__"],
  [".", "__dot__"],
  ["-", "__dash__"],
  ["/", "__slash__"],
]);
const SCALARS: ReadonlyMap<string, CelType> = new Map([
  ["boolean", BOOL],
  ["integer", INT],
  ["number", DOUBLE],
]);
const FORMATS: ReadonlyMap<string, CelType> = new Map([
  ["byte", BYTES],
  ["duration", DURATION],
  ["date", TIMESTAMP],
  ["date-time", TIMESTAMP],
]);

/** Name of a field in rules; `undefined` when rules cannot name it. */
function escapedName(name: string): string | undefined {
  if (!ESCAPABLE.test(name)) return undefined;
  if (isWord(name)) return `__${name}__`;
  return name.replaceAll(/__|[.\-/]/g, (found) => ESCAPES.get(found) ?? found);
}

/** True for a reserved word. After a dot, most reserved words need no escape. */
function isWord(name: string): boolean {
  return RESERVED.has(name) || KEYWORDS.has(name);
}

const NAME = sizedTo(STRING, TEXT_MAX);

/** Fields of every API object, where the schema does not describe all of them. */
const OBJECT_FIELDS: ReadonlyMap<string, FieldType> = new Map(
  [
    ["apiVersion", NAME],
    ["kind", NAME],
    ["metadata", metadataType()],
  ].map(([name, type]) => [name as string, { type: type as CelType, jsonName: name as string }]),
);
const OBJECT_FIELD_BYTES = 2;

function metadataType(): CelType {
  const fields = new Map<string, FieldType>(
    ["name", "generateName"].map((jsonName) => [jsonName, { type: NAME, jsonName }]),
  );
  return objectType("object", { find: (name) => fields.get(name), names: fields.keys() });
}

/** True when the schema describes all fields of API objects. Its own, more detailed types are then used. */
function describesObject({ properties }: Structural): boolean {
  const metadata = properties.get("metadata");
  const names = ["name", "generateName"].map((name) => metadata?.properties.get(name));
  const texts = [properties.get("kind"), properties.get("apiVersion"), ...names];
  return metadata?.types[0] === "object" && texts.every((text) => text?.types[0] === "string");
}

/** A schema as CEL rules see it. */
interface Seen {
  /** `undefined` for values that rules cannot see, such as values without a type. */
  readonly type: CelType | undefined;
  /** Smallest JSON size of a value. */
  readonly minBytes: number;
}

const known = new WeakMap<Structural, Seen>();

/** Type of the schema; `undefined` for values that rules cannot see. `level` separates an API object from a part of one. */
export function typeOfSchema(schema: Structural, level: "root" | "part"): CelType | undefined {
  return seen(schema, level).type;
}

/** Smallest JSON size of a value. It includes the required fields without a default. */
export function minBytesOf(schema: Structural, level: "root" | "part"): number {
  return seen(schema, level).minBytes;
}

function seen(schema: Structural, level: "root" | "part"): Seen {
  const made = known.get(schema);
  if (made !== undefined) return made;
  const isObject = (level === "root" || schema.isEmbedded) && !describesObject(schema);
  const type = makeType(schema, isObject);
  const fields = type?.kind === "object" ? requiredBytes(schema, isObject) : 0;
  const fresh = { type, minBytes: minScalarBytes(schema) + fields };
  known.set(schema, fresh);
  return fresh;
}

function requiredBytes({ rules, properties }: Structural, isObject: boolean): number {
  let bytes = 0;
  for (const name of new Set(rules.required)) {
    const property = properties.get(name);
    const isGiven = isObject && OBJECT_FIELDS.has(name);
    if (!isGiven && (property === undefined || property.fallback !== undefined)) continue;
    const { type, minBytes } = isGiven || property === undefined ? GIVEN : seen(property, "part");
    if (type !== undefined) bytes += Buffer.byteLength(name) + minBytes + 4;
  }
  return bytes;
}

const GIVEN: Seen = { type: NAME, minBytes: OBJECT_FIELD_BYTES };

function makeType(schema: Structural, isObject: boolean): CelType | undefined {
  if (schema.isIntOrString) return sizedTo(DYN, maxTextOf(schema));
  const [type = ""] = schema.types;
  if (type === "array") return arrayType(schema);
  if (type === "object")
    return typeof schema.additional === "object"
      ? mapType(schema, schema.additional)
      : recordType(schema, isObject);
  if (type !== "string") return SCALARS.get(type);
  return sizedTo(FORMATS.get(schema.rules.format) ?? STRING, maxTextOf(schema));
}

function sizedTo(type: CelType, maxSize: number): CelType {
  return { ...type, maxSize };
}

function arrayType(schema: Structural): CelType | undefined {
  const { items, listType, mapKeys } = schema;
  const element = items === undefined ? undefined : seen(items, "part");
  if (element?.type === undefined) return undefined;
  const keys: Readonly<Record<string, ListKeys>> = {
    set: { type: "set" },
    map: { type: "map", keys: mapKeys },
  };
  return sizedTo(listOf(element.type, keys[listType]), maxItemsOf(schema, element.minBytes));
}

function mapType(schema: Structural, additional: Structural): CelType | undefined {
  const { type, minBytes } = seen(additional, "part");
  return type === undefined ? undefined : sizedTo(mapOf(STRING, type), maxPropertiesOf(schema, minBytes));
}

function recordType({ properties }: Structural, isObject: boolean): CelType {
  let fields: ReadonlyMap<string, FieldType> | undefined;
  const read = (): ReadonlyMap<string, FieldType> => (fields ??= fieldTypes(properties, isObject));
  return objectType("object", {
    find: (name) => read().get(name) ?? (isWord(name) ? read().get(`__${name}__`) : undefined),
    get names() {
      return read().keys();
    },
  });
}

/** Types of the fields, by their names in rules. */
function fieldTypes(properties: Structural["properties"], isObject: boolean): ReadonlyMap<string, FieldType> {
  const fields = new Map<string, FieldType>(isObject ? OBJECT_FIELDS : []);
  for (const [jsonName, property] of properties) {
    const name = escapedName(jsonName);
    const type = typeOfSchema(property, "part");
    const isGiven = isObject && OBJECT_FIELDS.has(jsonName);
    if (type !== undefined && name !== undefined && !isGiven) fields.set(name, { type, jsonName });
  }
  return fields;
}
