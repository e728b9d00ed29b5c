/** The types that rules in CEL see, from a structural schema: as Kubernetes has them, integers and numbers apart. */
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
import { maxSizeOf } from "./expression-size.ts";
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

/** A field's name as rules write it; `undefined` when they cannot. */
function escapedName(name: string): string | undefined {
  if (!ESCAPABLE.test(name)) return undefined;
  if (isWord(name)) return `__${name}__`;
  return name.replaceAll(/__|[.\-/]/g, (found) => ESCAPES.get(found) ?? found);
}

/** A word of the language: behind a dot most may also be written as they are. */
function isWord(name: string): boolean {
  return RESERVED.has(name) || KEYWORDS.has(name);
}

/** Fields of every object of the API. */
const OBJECT_FIELDS: ReadonlyMap<string, FieldType> = new Map(
  [
    ["apiVersion", STRING],
    ["kind", STRING],
    ["metadata", metadataType()],
  ].map(([name, type]) => [name as string, { type: type as CelType, jsonName: name as string }]),
);

function metadataType(): CelType {
  const fields = new Map<string, FieldType>(
    ["name", "generateName"].map((jsonName) => [jsonName, { type: STRING, jsonName }]),
  );
  return objectType("object", { find: (name) => fields.get(name), names: fields.keys() });
}

const known = new WeakMap<Structural, CelType>();

/** `undefined` for what rules cannot see, as values of no type. `level` tells an object of the API from a part of one. */
export function typeOfSchema(schema: Structural, level: "root" | "part"): CelType | undefined {
  const isObject = level === "root" || schema.isEmbedded;
  const made = known.get(schema);
  if (made !== undefined) return made;
  const type = makeType(schema, isObject);
  if (type !== undefined) known.set(schema, type);
  return type;
}

function makeType(schema: Structural, isObject: boolean): CelType | undefined {
  if (schema.isIntOrString) return DYN;
  const [type = ""] = schema.types;
  if (type === "array") return sized(arrayType(schema), schema);
  if (type === "object")
    return typeof schema.additional === "object"
      ? sized(mapType(schema.additional), schema)
      : recordType(schema, isObject);
  if (type !== "string") return SCALARS.get(type);
  const text = FORMATS.get(schema.rules.format) ?? STRING;
  return text === STRING || text === BYTES ? sized(text, schema) : text;
}

function sized(type: CelType | undefined, schema: Structural): CelType | undefined {
  return type === undefined ? undefined : { ...type, maxSize: maxSizeOf(schema) };
}

function arrayType({ items, listType, mapKeys }: Structural): CelType | undefined {
  const element = items === undefined ? undefined : typeOfSchema(items, "part");
  if (element === undefined) return undefined;
  const keys: Readonly<Record<string, ListKeys>> = {
    set: { type: "set" },
    map: { type: "map", keys: mapKeys },
  };
  return listOf(element, keys[listType]);
}

function mapType(additional: Structural): CelType | undefined {
  const value = typeOfSchema(additional, "part");
  return value === undefined ? undefined : mapOf(STRING, value);
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

/** By the names that rules use. */
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
