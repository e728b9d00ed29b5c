/** Types of expressions, as the checker knows them. */

export type TypeKind =
  | "dyn"
  | "named"
  | "list"
  | "map"
  | "optional"
  | "type"
  | "object"
  | "parameter"
  | "error";

export interface CelType {
  readonly kind: TypeKind;
  readonly name: string;
  readonly parameters: readonly CelType[];
  /** Fields of an object type, looked up on first use because schemas are large. */
  readonly fields?: FieldTypes;
  /** Upper bound of a text's length or of the number of items, from the schema; cost estimates use it. */
  readonly maxSize?: number;
  /** Rule for comparing a list and for adding to it, from its schema. */
  readonly listKeys?: ListKeys;
}

export interface FieldTypes {
  /** `undefined` for an unknown field. */
  find(name: string): FieldType | undefined;
  /** Names of the JSON members, which may differ from the names in expressions. */
  readonly names: Iterable<string>;
}

export interface FieldType {
  readonly type: CelType;
  /** JSON name of the field, which expressions may be unable to write. */
  readonly jsonName: string;
}

export type ListKeys = { readonly type: "set" } | { readonly type: "map"; readonly keys: readonly string[] };

const NO_TYPES: readonly CelType[] = [];

function named(name: string): CelType {
  return { kind: "named", name, parameters: NO_TYPES };
}

export const DYN: CelType = { kind: "dyn", name: "dyn", parameters: NO_TYPES };
/** Type of an expression that already has an error, so that it causes no second one. */
export const ERROR: CelType = { kind: "error", name: "!error!", parameters: NO_TYPES };
export const BOOL = named("bool");
export const INT = named("int");
export const UINT = named("uint");
export const DOUBLE = named("double");
export const STRING = named("string");
export const BYTES = named("bytes");
export const NULL = named("null_type");
export const TIMESTAMP = named("google.protobuf.Timestamp");
export const DURATION = named("google.protobuf.Duration");

const PRIMITIVES: ReadonlyMap<string, CelType> = new Map(
  [DYN, BOOL, INT, UINT, DOUBLE, STRING, BYTES, NULL].map((type) => [type.name, type]),
);
const SHORT_NAMES: ReadonlyMap<string, CelType> = new Map([
  ["null", NULL],
  ["timestamp", TIMESTAMP],
  ["duration", DURATION],
]);

/** A type by its name in signatures. An unknown name is a type of a library. */
export function namedType(name: string): CelType {
  return PRIMITIVES.get(name) ?? SHORT_NAMES.get(name) ?? named(name);
}

export function listOf(element: CelType, listKeys?: ListKeys): CelType {
  const type: CelType = { kind: "list", name: "list", parameters: [element] };
  return listKeys === undefined ? type : { ...type, listKeys };
}

export function mapOf(key: CelType, value: CelType): CelType {
  return { kind: "map", name: "map", parameters: [key, value] };
}

export function optionalOf(inner: CelType): CelType {
  return { kind: "optional", name: "optional_type", parameters: [inner] };
}

export function typeOf(inner: CelType): CelType {
  return { kind: "type", name: "type", parameters: [inner] };
}

export function parameterType(name: string): CelType {
  return { kind: "parameter", name, parameters: NO_TYPES };
}

export function objectType(name: string, fields: FieldTypes): CelType {
  return { kind: "object", name, parameters: NO_TYPES, fields };
}

/** The first or second type parameter; dyn where a type has none. */
export function parameterOf(type: CelType, at = 0): CelType {
  return type.parameters[at] ?? DYN;
}

/** The type as compile errors show it: `list(timestamp)`. */
export function typeText({ name, parameters }: CelType): string {
  return withParameters(SHOWN_NAMES.get(name) ?? name, parameters.map(typeText));
}

/** The type by its declared name: `list(google.protobuf.Timestamp)`. */
export function declaredTypeText({ name, parameters }: CelType): string {
  return withParameters(name, parameters.map(declaredTypeText));
}

const SHOWN_NAMES: ReadonlyMap<string, string> = new Map(
  [...SHORT_NAMES].map(([short, { name }]) => [name, short]),
);

function withParameters(name: string, parameters: readonly string[]): string {
  return parameters.length === 0 ? name : `${name}(${parameters.join(", ")})`;
}
