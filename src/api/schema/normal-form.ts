/**
 * The one form in which values are defaulted, compared and stored (DESIGN §4.11): what Go would write after
 * reading the same. Equal meaning gives equal values, and equal bytes when they are serialised.
 *
 * In normal form `null` never occurs outside raw JSON; zeros that Go leaves out are absent; what Go always writes
 * is there; fields and map keys are in order; quantities, times and bytes have their one spelling; an int64 is a
 * number, or a bigint beyond 2^53.
 *
 *   { kind: "Pod", spec: { containers: [{ name: "a", image: "", tty: null }], hostNetwork: false } }
 *   → { kind: "Pod", metadata: {}, spec: { containers: [{ name: "a", resources: {} }] }, status: {} }
 */
import { type JsonObject, isJsonObject, setOwn, withSortedKeys } from "../json/json-object.ts";
import { JSON_DEPTH_MAX } from "../json/json-scan.ts";
import { inThousandths } from "../values/quantity.ts";
import { unitsOfEntry, unitsOfItem, unitsOfStruct, BodyWork, type WorkBudget } from "../work-budget.ts";
import { DecodeError } from "./decode-error.ts";
import { mismatchText, pathText } from "./decode-place.ts";
import { isOmitted, structFromSlots, zeroValue } from "./go-zero.ts";
import { MISMATCH, normalScalar } from "./normal-scalar.ts";
import type {
  EitherSchema,
  ListSchema,
  MapSchema,
  ScalarSchema,
  Schema,
  StructField,
  StructSchema,
} from "./schema.ts";

/** More unknown fields are not named, as upstream does not. */
const UNKNOWN_MAX = 100;

export interface NormalForm {
  readonly value: JsonObject;
  /** Paths of the fields that the schema does not name, such as `spec.containers[0].foo`. They are not in the value. */
  readonly unknownFields: readonly string[];
}

/**
 * Brings a decoded JSON value to normal form. The value is not changed: what is already in normal form is taken
 * over as it is, the value itself if all of it is. Throws a DecodeError when the value is not of the schema's types.
 *
 * `known` is an object of this schema in normal form: parts that are the same there, at any depth, are not looked at again.
 */
export function toNormalForm(schema: StructSchema, value: unknown, known?: JsonObject): NormalForm {
  return walked(schema, value, { known, budget: undefined });
}

/** The same for a value that a client sent: throws a TooLargeError when it asks for more work than one request may. */
export function toChargedNormalForm(
  schema: StructSchema,
  value: unknown,
  known?: JsonObject,
): ChargedNormalForm {
  const budget = new BodyWork();
  const { value: normal, unknownFields } = walked(schema, value, { known, budget });
  return { value: normal, unknownFields, units: budget.charged };
}

interface ChargedNormalForm extends NormalForm {
  /** What it was charged for. */
  readonly units: number;
}

/** The same for a part of such a value. */
export function normalFormWithin(
  budget: WorkBudget | undefined,
  schema: StructSchema,
  value: unknown,
): NormalForm {
  return walked(schema, value, { known: undefined, budget });
}

interface WalkOptions {
  readonly known: JsonObject | undefined;
  readonly budget: WorkBudget | undefined;
}

function walked(schema: StructSchema, value: unknown, options: WalkOptions): NormalForm {
  if (schema.normalForm !== undefined && isJsonObject(value)) return schema.normalForm(value, options.budget);
  const walk = new Walk(schema, options);
  const normal = walk.struct(schema, value, 0);
  return { value: normal, unknownFields: walk.unknown };
}

class Walk {
  readonly unknown: string[] = [];
  readonly #root: StructSchema;
  /** The keys from the root to the value at hand; only the first `depth` are of meaning. */
  readonly #path: (string | number)[] = [];
  /** What the known object has at each depth of that path; undefined without such an object. */
  readonly #known: unknown[] | undefined;
  readonly #budget: WorkBudget | undefined;

  constructor(root: StructSchema, { known, budget }: WalkOptions) {
    this.#root = root;
    this.#budget = budget;
    this.#known = known === undefined ? undefined : [known];
  }

  struct(schema: StructSchema, value: unknown, depth: number): JsonObject {
    if (!isJsonObject(value)) return this.#mismatch(schema, value, depth);
    this.#guardDepth(depth);
    this.#budget?.charge(unitsOfStruct(schema));
    const slots = this.#changedSlots(schema, value, depth);
    if (slots !== undefined) return this.#rebuilt(schema, value, slots);
    return schema.keepsUnknown ? withSortedKeys(value) : value;
  }

  /** The members by the index of their field; `undefined` when all are as the normal form has them. */
  #changedSlots(schema: StructSchema, value: JsonObject, depth: number): unknown[] | undefined {
    let slots: unknown[] | undefined;
    let previous = -1;
    for (const key of Object.keys(value)) {
      const field = schema.byName.get(key);
      if (field === undefined) {
        if (!this.#unknownField(schema, key, depth)) slots ??= slotsBefore(key, schema, value);
        continue;
      }
      const before = value[key];
      const after = this.#member(field, before, depth);
      if (after !== before || field.index < previous) slots ??= slotsBefore(key, schema, value);
      if (slots !== undefined) slots[field.index] = after;
      previous = field.index;
    }
    return slots ?? (isFilled(schema, value) ? undefined : slotsBefore("", schema, value));
  }

  /** `undefined` when the normal form leaves the field out. */
  #member(field: StructField, value: unknown, depth: number): unknown {
    if (value === null || value === undefined) return undefined;
    if (this.#isKnown(value, field.name, depth)) return value;
    const normal = this.#value(field.schema, value, depth + 1);
    return normal === null || isOmitted(field, normal) ? undefined : normal;
  }

  /** Steps down to the value under that key. Whether the known object has it too. */
  #isKnown(value: unknown, key: string | number, depth: number): boolean {
    this.#path[depth] = key;
    if (this.#known === undefined) return false;
    const holder = this.#known[depth] as { readonly [key: string | number]: unknown } | null | undefined;
    const member = holder?.[key];
    this.#known[depth + 1] = member;
    return value === member && value !== undefined;
  }

  #value(schema: Schema, value: unknown, depth: number): unknown {
    if (schema.type === "struct") return this.struct(schema, value, depth);
    if (schema.type === "list") return this.#list(schema, value, depth);
    if (schema.type === "map") return this.#map(schema, value, depth);
    if (schema.type === "either") return this.#either(schema, value, depth);
    return schema.type === "string" && typeof value === "string" ? value : this.#scalar(schema, value, depth);
  }

  #scalar(schema: ScalarSchema, value: unknown, depth: number): unknown {
    const normal = normalScalar(schema.type, value);
    if (schema.isInThousandths === true && typeof normal === "string") return inThousandths(normal);
    return normal === MISMATCH ? this.#mismatch(schema, value, depth) : normal;
  }

  #list(schema: ListSchema, value: unknown, depth: number): unknown {
    if (!Array.isArray(value)) return this.#mismatch(schema, value, depth);
    this.#guardDepth(depth);
    const before: readonly unknown[] = value;
    this.#budget?.charge(before.length * unitsOfItem(schema));
    let changed: unknown[] | undefined;
    for (let at = 0; at < before.length; at++) {
      const item = this.#isKnown(before[at], at, depth)
        ? before[at]
        : this.#item(schema.items, before[at], depth + 1);
      if (changed !== undefined) changed.push(item);
      else if (item !== before[at]) changed = [...before.slice(0, at), item];
    }
    return changed ?? value;
  }

  #map(schema: MapSchema, value: unknown, depth: number): unknown {
    if (!isJsonObject(value)) return this.#mismatch(schema, value, depth);
    this.#guardDepth(depth);
    const keys = Object.keys(value);
    this.#budget?.charge(keys.length * unitsOfEntry(schema));
    let changed: Record<string, unknown> | undefined;
    for (const key of keys) {
      if (this.#isKnown(value[key], key, depth)) continue;
      const item = this.#item(schema.values, value[key], depth + 1);
      if (item !== value[key]) setOwn((changed ??= { ...value }), key, item);
    }
    return withSortedKeys(changed ?? value);
  }

  /** Go keeps the place of a `null` in a list or map, with a zero value. */
  #item(schema: Schema, value: unknown, depth: number): unknown {
    return value === null || value === undefined ? zeroValue(schema) : this.#value(schema, value, depth);
  }

  #either(schema: EitherSchema, value: unknown, depth: number): unknown {
    if (schema.other === "boolean" && typeof value === "boolean") return value;
    if (schema.other === "boolean" || !Array.isArray(value)) return this.struct(schema.struct, value, depth);
    const items: Schema = schema.other === "structs" ? schema.struct : { type: "string" };
    return this.#list({ type: "list", items, listType: "atomic", keys: [], wrapped: false }, value, depth);
  }

  #rebuilt(schema: StructSchema, value: JsonObject, slots: readonly unknown[]): JsonObject {
    const built = structFromSlots(schema, slots);
    if (!schema.keepsUnknown) return built;
    for (const key of Object.keys(value)) {
      if (!schema.byName.has(key)) setOwn(built, key, value[key]);
    }
    return withSortedKeys(built);
  }

  /** Whether the field stays. */
  #unknownField(schema: StructSchema, key: string, depth: number): boolean {
    if (schema.keepsUnknown) return true;
    if (this.unknown.length < UNKNOWN_MAX) this.unknown.push(pathText(this.#path.slice(0, depth), key));
    return false;
  }

  #guardDepth(depth: number): void {
    if (depth > JSON_DEPTH_MAX) throw new DecodeError("exceeded max depth");
  }

  #mismatch(schema: Schema, value: unknown, depth: number): never {
    const mismatch = { schema, value };
    throw new DecodeError(mismatchText(this.#root, this.#path.slice(0, depth), mismatch), { mismatch });
  }
}

/** Whether everything is there that the normal form always has. */
function isFilled({ filled }: StructSchema, value: JsonObject): boolean {
  for (const { name } of filled) {
    if (value[name] === undefined || !Object.hasOwn(value, name)) return false;
  }
  return true;
}

/** The members before the key, all for an empty one: they are as the normal form has them. */
function slotsBefore(end: string, schema: StructSchema, value: JsonObject): unknown[] {
  const slots: unknown[] = [];
  // At its full length from the start: growing it field by field costs more than the fields.
  slots.length = schema.fields.length;
  for (const key of Object.keys(value)) {
    if (key === end) break;
    const field = schema.byName.get(key);
    if (field !== undefined) slots[field.index] = value[key];
  }
  return slots;
}
