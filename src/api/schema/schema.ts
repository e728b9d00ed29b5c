/**
 * The one structural model of API values, for built-in kinds and custom resources alike. Normal form, protobuf,
 * patch, apply, pruning and OpenAPI all walk these nodes and know nothing of where they came from.
 *
 * Nodes are deeply immutable. A struct works out its fields when they are first asked for and keeps them, so that
 * a schema may contain itself (JSONSchemaProps) and a kind nobody touches costs nothing.
 */

export type Schema = StructSchema | MapSchema | ListSchema | EitherSchema | ScalarSchema;

/** What a list's items are to each other when several writers change it. */
export type ListType = "atomic" | "set" | "map";

/** How strategic merge patch treats a field; several may apply at once (`merge` with `retainKeys`). */
export type PatchStrategy = "merge" | "replace" | "retainKeys";

export type ScalarType =
  | "string"
  | "int32"
  | "int64"
  | "float"
  | "boolean"
  /** Base64 text in JSON. */
  | "bytes"
  | "quantity"
  /** RFC 3339, whole seconds. */
  | "time"
  /** RFC 3339 with exactly six decimals. */
  | "microTime"
  | "intOrString"
  /** Any JSON value, kept as it came: RawExtension, FieldsV1, the `JSON` of apiextensions. */
  | "raw";

export interface ScalarSchema {
  readonly type: ScalarType;
  /** Only for strings: the values the published API names. */
  readonly enum?: readonly string[];
  /** Only for quantities: what is finer is rounded up. */
  readonly isInThousandths?: boolean;
}

export interface MapSchema {
  readonly type: "map";
  readonly values: Schema;
  /** Apply treats the whole map as one value. */
  readonly atomic: boolean;
}

export interface ListSchema {
  readonly type: "list";
  readonly items: Schema;
  readonly listType: ListType;
  /** The fields that tell items apart; empty unless `listType` is `map`. */
  readonly keys: readonly string[];
  /** On the wire the list is a message of its own around its items (`ExtraValue`, `Verbs`). */
  readonly wrapped: boolean;
}

/** A struct, or in its place a boolean, a list of such structs, or a list of strings (JSONSchemaProps only). */
export interface EitherSchema {
  readonly type: "either";
  readonly struct: StructSchema;
  readonly other: "boolean" | "structs" | "strings";
}

export interface StructField {
  readonly name: string;
  /** Its place among the struct's fields, which are sorted by name. */
  readonly index: number;
  readonly schema: Schema;
  /** Go holds a pointer: a zero is then a value of its own (`replicas: 0`), not the same as absent. */
  readonly pointer: boolean;
  /** Go writes the field even when it is zero. */
  readonly always: boolean;
  /** The field's number on the wire, after those of the messages it lies in there; empty when it is not there. */
  readonly wirePath: readonly number[];
  readonly patchStrategies: readonly PatchStrategy[];
  /** The key by which strategic merge patch tells the items of this list apart. */
  readonly mergeKey: string | undefined;
  /** The normal form always has the field. */
  readonly filled: boolean;
  /** Every object inherits something of that name, so that plain reading and assigning would go wrong. */
  readonly shadows: boolean;
  /** The published API calls it required; of a built-in kind this says nothing about what is refused. */
  readonly required: boolean;
  /** The published default where it is not the type's zero value, such as `TCP`; apply needs it for list keys. */
  readonly defaultValue: string | number | boolean | undefined;
}

export type FieldOptions = Omit<StructField, "index" | "filled" | "shadows">;

export interface StructOptions {
  /** The type's name as decode errors show it, such as `DeploymentSpec`. */
  readonly name: string;
  /** The name with package, such as `apps.v1.DeploymentSpec`; unique. */
  readonly definition: string;
  /** Apply treats the whole struct as one value. */
  readonly atomic?: boolean;
  /** Fields the struct does not name are kept instead of pruned. */
  readonly keepsUnknown?: boolean;
  /** Called at most once, when the fields are first needed. The order does not matter. */
  readonly fields: () => readonly FieldOptions[];
  /** Where the normal form is not Go's: custom resources have no types in Go. */
  readonly normalForm?: OwnNormalForm;
}

/** Leaves out what the schema does not name, and names it; the value itself when it is in normal form. */
export type OwnNormalForm = (
  value: Readonly<Record<string, unknown>>,
  budget?: { charge(units: number): void },
) => {
  readonly value: Readonly<Record<string, unknown>>;
  readonly unknownFields: readonly string[];
};

/** A message on the wire: its entries by rising number, and the same by number for the reader. */
export interface WireMessage {
  readonly entries: readonly WireEntry[];
  readonly byNumber: readonly (WireEntry | undefined)[];
}

/** A field of the struct, or a message that JSON flattens into the struct (`volumeSource`). */
export type WireEntry =
  | { readonly type: "field"; readonly number: number; readonly field: StructField }
  | { readonly type: "message"; readonly number: number; readonly message: WireMessage };

export class StructSchema {
  readonly type = "struct";
  readonly name: string;
  readonly definition: string;
  readonly atomic: boolean;
  readonly keepsUnknown: boolean;
  readonly normalForm: OwnNormalForm | undefined;
  /** What it is charged for (work-budget.ts), once that is known: asked for with each struct that is read. */
  units = 0;
  readonly #options: StructOptions;
  #fields: readonly StructField[] | undefined;
  #byName: ReadonlyMap<string, StructField> | undefined;
  #filled: readonly StructField[] | undefined;
  #wire: WireMessage | undefined;

  constructor(options: StructOptions) {
    this.name = options.name;
    this.definition = options.definition;
    this.atomic = options.atomic ?? false;
    this.keepsUnknown = options.keepsUnknown ?? false;
    this.normalForm = options.normalForm;
    this.#options = options;
  }

  /** Sorted by name, which is the order of the normal form. */
  get fields(): readonly StructField[] {
    return (this.#fields ??= sortedFields(this.#options.fields()));
  }

  get byName(): ReadonlyMap<string, StructField> {
    return (this.#byName ??= new Map(this.fields.map((field) => [field.name, field])));
  }

  /** The fields that the normal form always has. */
  get filled(): readonly StructField[] {
    return (this.#filled ??= this.fields.filter(({ filled }) => filled));
  }

  get wire(): WireMessage {
    return (this.#wire ??= wireMessage(this.fields, 0));
  }

  /** The same struct where a field's own marker overrides the type's (`claimRef` is granular). */
  withAtomic(atomic: boolean): StructSchema {
    return atomic === this.atomic ? this : new StructSchema({ ...this.#options, atomic });
  }
}

/** The field of that name, or `undefined` when the node is no struct or does not name it. */
export function findField(schema: Schema, name: string): StructField | undefined {
  return schema.type === "struct" ? schema.byName.get(name) : undefined;
}

/**
 * The schema of the value under `key`: a struct's field, a map's value, a list's item. `undefined` when the schema
 * says nothing of it, as inside raw JSON.
 */
export function childSchema(schema: Schema, key: string | number): Schema | undefined {
  if (schema.type === "struct") return schema.byName.get(String(key))?.schema;
  if (schema.type === "map") return schema.values;
  if (schema.type === "list") return schema.items;
  if (schema.type !== "either") return undefined;
  if (typeof key === "string") return childSchema(schema.struct, key);
  return schema.other === "structs" ? schema.struct : { type: "string" };
}

/** Orders names as the normal form does: by UTF-16 code unit, whatever the locale. */
export function compareNames(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function sortedFields(fields: readonly FieldOptions[]): readonly StructField[] {
  return fields
    .toSorted((left, right) => compareNames(left.name, right.name))
    .map((field, index) => ({
      ...field,
      index,
      filled: isFilled(field),
      shadows: field.name in Object.prototype,
    }));
}

/** Values of these types are structs to Go, which writes them even when asked to leave out empty ones. */
const GO_STRUCTS: ReadonlySet<string> = new Set(["struct", "quantity", "intOrString"]);
/** Their zero value is `null` in Go's JSON, which is the same as absent. */
const ABSENT_WHEN_ZERO: ReadonlySet<string> = new Set(["time", "microTime", "raw"]);

function isFilled({ schema, pointer, always }: FieldOptions): boolean {
  if (pointer || ABSENT_WHEN_ZERO.has(schema.type)) return false;
  return always || GO_STRUCTS.has(schema.type);
}

/** The message made of the part of each path that begins at `depth`. */
function wireMessage(fields: readonly StructField[], depth: number): WireMessage {
  const nested = new Map<number, StructField[]>();
  const entries: WireEntry[] = [];
  for (const field of fields) {
    const number = field.wirePath[depth];
    if (number === undefined) continue;
    if (field.wirePath.length === depth + 1) entries.push({ type: "field", number, field });
    else nested.set(number, [...(nested.get(number) ?? []), field]);
  }
  for (const [number, inner] of nested) {
    entries.push({ type: "message", number, message: wireMessage(inner, depth + 1) });
  }
  entries.sort((left, right) => left.number - right.number);
  const byNumber: (WireEntry | undefined)[] = [];
  for (const entry of entries) byNumber[entry.number] = entry;
  return { entries, byNumber };
}
