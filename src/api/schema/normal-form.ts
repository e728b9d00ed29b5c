/**
 * Converts values to normal form: the JSON that Go would write after reading the same value. Equal
 * meaning gives equal values and equal bytes. `null` occurs only inside raw JSON. Zeros that Go omits are absent;
 * fields that Go always writes are present. Fields and map keys are sorted. Quantities, times and bytes are canonical.
 * Integers beyond 2^53 are bigint.
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

/** Maximum number of reported unknown fields, equal to upstream's. */
const UNKNOWN_MAX = 100;

export interface NormalForm {
  readonly value: JsonObject;
  /**
   * Paths of fields that the schema does not define, for example `spec.containers[0].foo`. `value` omits these fields.
   */
  readonly unknownFields: readonly string[];
}

/**
 * Converts a decoded JSON value to normal form. The input is not changed: the result shares all parts already in normal
 * form, or is the input itself. Throws a DecodeError if the value does not have the schema's types.
 *
 * `known` is an object of this schema in normal form. Parts that are identical in it, at any depth, are not visited
 * again.
 */
export function toNormalForm(schema: StructSchema, value: unknown, known?: JsonObject): NormalForm {
  return walked(schema, value, { known, budget: undefined });
}

/**
 * Like `toNormalForm`, for a value from a client. Throws a TooLargeError if the value exceeds the work budget of a
 * request.
 */
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
  /** Units charged for the value. */
  readonly units: number;
}

/** Like `toChargedNormalForm`, for a part of a value, with the budget of the whole value. */
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
  /** Keys from the root to the current value. Only the first `depth` entries are valid. */
  readonly #path: (string | number)[] = [];
  /** Value in the known object at each depth of the path. Undefined without a known object. */
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

  /** Members by their field's index. Undefined if the struct is already in normal form, except for missing fields. */
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

  /** Undefined if the normal form omits the field. */
  #member(field: StructField, value: unknown, depth: number): unknown {
    if (value === null || value === undefined) return undefined;
    if (this.#isKnown(value, field.name, depth)) return value;
    const normal = this.#value(field.schema, value, depth + 1);
    return normal === null || isOmitted(field, normal) ? undefined : normal;
  }

  /** Moves the path to the value under that key. True if the known object has the identical value there. */
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

  /** Go keeps the position of a `null` in a list or map and puts a zero value there. */
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

  /** True if the normal form keeps the field. */
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

/** True if all fields that the normal form always has are present. */
function isFilled({ filled }: StructSchema, value: JsonObject): boolean {
  for (const { name } of filled) {
    if (value[name] === undefined || !Object.hasOwn(value, name)) return false;
  }
  return true;
}

/** Members before the key, or all members if the key is empty. They are already in normal form. */
function slotsBefore(end: string, schema: StructSchema, value: JsonObject): unknown[] {
  const slots: unknown[] = [];
  // Allocates the full length at once: growing the array field by field costs more than the fields.
  slots.length = schema.fields.length;
  for (const key of Object.keys(value)) {
    if (key === end) break;
    const field = schema.byName.get(key);
    if (field !== undefined) slots[field.index] = value[key];
  }
  return slots;
}
