/**
 * The structural model of API values, for built-in kinds and custom resources. Normal form, protobuf, patch, apply,
 * pruning and OpenAPI all work on these nodes, independent of their source.
 *
 * Nodes are deeply immutable. A struct compiles its fields on first use and caches them. Schemas may therefore contain
 * themselves (JSONSchemaProps), and unused kinds cost nothing.
 */

export type Schema = StructSchema | MapSchema | ListSchema | EitherSchema | ScalarSchema;

/** How apply merges a list with several writers: as one value, as a set, or item by item. */
export type ListType = "atomic" | "set" | "map";

/** How strategic merge patch treats a field. Several may apply at once (`merge` with `retainKeys`). */
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
  /** Any JSON value, stored unchanged: RawExtension, FieldsV1, the `JSON` of apiextensions. */
  | "raw";

export interface ScalarSchema {
  readonly type: ScalarType;
  /** Strings only: the allowed values in the published API. */
  readonly enum?: readonly string[];
  /** Quantities only: finer values are rounded up to thousandths. */
  readonly isInThousandths?: boolean;
  /** Raw values only: apply owns maps key by key, as it owns fields without a schema. */
  readonly isGranular?: boolean;
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
  /** Fields that identify an item; empty unless `listType` is `map`. */
  readonly keys: readonly string[];
  /** In protobuf, a message of its own wraps the items (`ExtraValue`, `Verbs`). */
  readonly wrapped: boolean;
}

/** A struct, or instead of it a boolean, a list of these structs, or a list of strings (JSONSchemaProps only). */
export interface EitherSchema {
  readonly type: "either";
  readonly struct: StructSchema;
  readonly other: "boolean" | "structs" | "strings";
}

export interface StructField {
  readonly name: string;
  /** Position among the struct's fields, which are sorted by name. */
  readonly index: number;
  readonly schema: Schema;
  /** Go uses a pointer: an explicit zero (`replicas: 0`) differs from an absent field. */
  readonly pointer: boolean;
  /** Go writes the field even if it is zero. */
  readonly always: boolean;
  /** Protobuf field number, after the numbers of the messages that enclose it. Empty if protobuf omits the field. */
  readonly wirePath: readonly number[];
  readonly patchStrategies: readonly PatchStrategy[];
  /** Key that identifies the items of this list in strategic merge patch. */
  readonly mergeKey: string | undefined;
  /** The normal form always has the field. */
  readonly filled: boolean;
  /** Object.prototype has a member of this name, so plain reads and assignments are wrong. */
  readonly shadows: boolean;
  /** Required in the published API. Validation of built-in kinds does not depend on it. */
  readonly required: boolean;
  /** Published default if it differs from the type's zero value, for example `TCP`. Apply needs it for list keys. */
  readonly defaultValue: string | number | boolean | undefined;
}

export type FieldOptions = Omit<StructField, "index" | "filled" | "shadows">;

export interface StructOptions {
  /** Type name in decode errors, for example `DeploymentSpec`. */
  readonly name: string;
  /** Unique name with package, for example `apps.v1.DeploymentSpec`. */
  readonly definition: string;
  /** Apply treats the whole struct as one value. */
  readonly atomic?: boolean;
  /** Unknown fields are kept instead of pruned. */
  readonly keepsUnknown?: boolean;
  /** Called at most once, on first use. The order of fields does not matter. */
  readonly fields: () => readonly FieldOptions[];
  /** Replaces Go's normal form, for custom resources: they have no Go types. */
  readonly normalForm?: NormalFormFunction;
}

/** Removes unknown fields and reports their paths. Returns the same object if it is already in normal form. */
export type NormalFormFunction = (
  value: Readonly<Record<string, unknown>>,
  budget?: { charge(units: number): void },
) => {
  readonly value: Readonly<Record<string, unknown>>;
  readonly unknownFields: readonly string[];
};

/** Protobuf layout of a message: entries sorted by number, and an index by number for the decoder. */
export interface WireMessage {
  readonly entries: readonly WireEntry[];
  readonly byNumber: readonly (WireEntry | undefined)[];
}

/** A field of the struct, or a message whose fields JSON puts directly into the struct (`volumeSource`). */
export type WireEntry =
  | { readonly type: "field"; readonly number: number; readonly field: StructField }
  | { readonly type: "message"; readonly number: number; readonly message: WireMessage };

export class StructSchema {
  readonly type = "struct";
  readonly name: string;
  readonly definition: string;
  readonly atomic: boolean;
  readonly keepsUnknown: boolean;
  readonly normalForm: NormalFormFunction | undefined;
  /**
   * Cached work units of the empty struct (work-budget.ts); 0 until computed. The decoder needs them for every struct.
   */
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

  /** Fields that the normal form always has. */
  get filled(): readonly StructField[] {
    return (this.#filled ??= this.fields.filter(({ filled }) => filled));
  }

  get wire(): WireMessage {
    return (this.#wire ??= wireMessage(this.fields, 0));
  }

  /** A copy with another `atomic`, for a field whose marker overrides the type's (`claimRef` is granular). */
  withAtomic(atomic: boolean): StructSchema {
    return atomic === this.atomic ? this : new StructSchema({ ...this.#options, atomic });
  }
}

/** The field with this name. Undefined if the node is not a struct or has no such field. */
export function findField(schema: Schema, name: string): StructField | undefined {
  return schema.type === "struct" ? schema.byName.get(name) : undefined;
}

/**
 * The schema of the value under `key`: a struct's field, a map's value, a list's item. Undefined if the schema does not
 * describe it, for example inside raw JSON.
 */
export function childSchema(schema: Schema, key: string | number): Schema | undefined {
  if (schema.type === "struct") return schema.byName.get(String(key))?.schema;
  if (schema.type === "map") return schema.values;
  if (schema.type === "list") return schema.items;
  if (schema.type !== "either") return undefined;
  if (typeof key === "string") return childSchema(schema.struct, key);
  return schema.other === "structs" ? schema.struct : { type: "string" };
}

/** Order of names in the normal form: by UTF-16 code unit, independent of the locale. */
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

/** Go implements these types as structs, which `omitempty` does not omit. */
const GO_STRUCTS: ReadonlySet<string> = new Set(["struct", "quantity", "intOrString"]);
/** Go writes the zero value of these types as `null`, which means absent. */
const ABSENT_WHEN_ZERO: ReadonlySet<string> = new Set(["time", "microTime", "raw"]);

function isFilled({ schema, pointer, always }: FieldOptions): boolean {
  if (pointer || ABSENT_WHEN_ZERO.has(schema.type)) return false;
  return always || GO_STRUCTS.has(schema.type);
}

/** Builds the message from the part of each wire path that begins at `depth`. */
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
