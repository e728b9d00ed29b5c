/**
 * Brings a custom resource to its normal form: no unknown fields, no forbidden nulls, standard metadata, keys in order.
 * Values of a wrong type stay, because validation reports them.
 */
import { isJsonObject, type JsonObject, setOwn, withSortedKeys } from "../json/json-object.ts";
import { builtInStruct } from "../schema/built-in-schema.ts";
import { pathText } from "../schema/decode-place.ts";
import { normalFormWithin, toNormalForm } from "../schema/normal-form.ts";
import type { WorkBudget } from "../work-budget.ts";
import { compileStructural, type Structural } from "./structural.ts";

/** Upper bound of reported unknown fields, as in upstream. */
const UNKNOWN_MAX = 100;
/** Work per map entry or keyed list item, which has an owner of its own. */
const ENTRY_UNITS = 4;
/** Work per unknown field, which has an owner too. */
const UNKNOWN_UNITS = 2;
const OBJECT_FIELDS: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

export interface CustomNormalForm {
  readonly value: JsonObject;
  /** Paths of the dropped fields. */
  readonly unknownFields: readonly string[];
}

/** The normal form of an object. The input is not modified, and is itself the result when nothing changes. */
export function toCustomNormalForm(
  schema: Structural,
  value: JsonObject,
  budget?: WorkBudget,
): CustomNormalForm {
  const normalizer = new Normalizer(budget);
  const root = schema.isEmbedded ? schema : { ...schema, isEmbedded: true };
  const normal = normalizer.object(root, value, 0);
  const { object, unknown } = withMetadata(normal, budget);
  const unknownFields = [...unknown, ...normalizer.unknown.toSorted(), ...normalizer.unknownMetadata];
  return { value: object, unknownFields: unknownFields.slice(0, UNKNOWN_MAX) };
}

/** The normal form of a part of an object, such as a default. */
export function normalizeValue(schema: Structural, value: unknown): unknown {
  return new Normalizer().value(schema, value, 0);
}

/** Throws a DecodeError when metadata has a wrong type. */
function withMetadata(
  object: JsonObject,
  budget: WorkBudget | undefined,
): { object: JsonObject; unknown: readonly string[] } {
  const { metadata } = object;
  if (metadata === undefined) return { object, unknown: [] };
  const { value, unknownFields } = normalFormWithin(budget, builtInStruct("meta.v1.ObjectMeta"), metadata);
  return {
    object: value === metadata ? object : { ...object, metadata: value },
    unknown: unknownFields.map((field) => `metadata.${field}`),
  };
}

class Normalizer {
  readonly unknown: string[] = [];
  /** Unknown metadata fields of embedded objects. */
  readonly unknownMetadata: string[] = [];
  readonly #path: (string | number)[] = [];
  readonly #budget: WorkBudget | undefined;

  constructor(budget?: WorkBudget) {
    this.#budget = budget;
  }

  #note(path: string): void {
    if (this.unknown.length < UNKNOWN_MAX) this.unknown.push(path);
  }

  value(schema: Structural, value: unknown, depth: number): unknown {
    if (Array.isArray(value)) return this.#list(schema, value, depth);
    return isJsonObject(value) ? this.object(schema, value, depth) : value;
  }

  object(schema: Structural, value: JsonObject, depth: number): JsonObject {
    let changed: Record<string, unknown> | undefined;
    const keys = Object.keys(value);
    this.#budget?.charge(keys.length * (typeof schema.additional === "object" ? ENTRY_UNITS : 1));
    for (const key of keys) {
      this.#path[depth] = key;
      const before = value[key];
      const after = this.#member(schema, key, { value: before, depth });
      if (after === before) continue;
      changed ??= { ...value };
      if (after === undefined) delete changed[key];
      else setOwn(changed, key, after);
    }
    return withSortedKeys(changed ?? value);
  }

  /** The normal form of a member; `undefined` when it is dropped. */
  #member(schema: Structural, key: string, place: Place): unknown {
    if (schema.isEmbedded && OBJECT_FIELDS.has(key)) return this.#objectField(key, place);
    const { value, depth } = place;
    const named = schema.properties.get(key) ?? schema.additional;
    if (typeof named === "object") {
      const isGone = value === null && !named.isNullable && named.fallback === undefined;
      return isGone ? undefined : this.value(named, value, depth + 1);
    }
    if (named === true && !schema.keepsUnknown) return withoutContent(value);
    if (schema.keepsUnknown) return sorted(value, this.#budget);
    this.#note(pathText(this.#path.slice(0, depth), key));
    return undefined;
  }

  /**
   * A standard field of an object. The metadata of the outermost object is handled separately, once the object is complete.
   */
  #objectField(key: string, { value, depth }: Place): unknown {
    if (value === null) return undefined;
    if (key !== "metadata" || depth === 0) return value;
    const { metadata, unknown } = embeddedMetadata(value);
    for (const field of unknown) this.unknownMetadata.push(pathText(this.#path.slice(0, depth), field));
    return metadata;
  }

  #list(schema: Structural, value: readonly unknown[], depth: number): readonly unknown[] {
    const items = schema.items ?? (schema.keepsUnknown ? undefined : EMPTY);
    if (items === undefined) return sorted(value, this.#budget) as readonly unknown[];
    this.#budget?.charge(value.length * (schema.listType === "atomic" ? 1 : ENTRY_UNITS));
    const inner = schema.keepsUnknown && !items.keepsUnknown ? { ...items, keepsUnknown: true } : items;
    let changed: unknown[] | undefined;
    for (const [at, item] of value.entries()) {
      this.#path[depth] = at;
      const after = this.value(inner, item, depth + 1);
      if (after !== item) (changed ??= [...value])[at] = after;
    }
    return changed ?? value;
  }
}

interface Place {
  readonly value: unknown;
  readonly depth: number;
}

/** A schema that allows no field. */
const EMPTY: Structural = compileStructural({});

/** Content allowed by `additionalProperties: true`: any key, but no fields below it. */
function withoutContent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutContent);
  return isJsonObject(value) ? {} : value;
}

/** Metadata of an embedded object. Invalid metadata stays as it is, because validation reports it. */
function embeddedMetadata(value: unknown): { metadata: unknown; unknown: readonly string[] } {
  if (!isJsonObject(value)) return { metadata: value, unknown: [] };
  try {
    const whole = { apiVersion: "v1", kind: "PartialObjectMetadata", metadata: value };
    const normal = toNormalForm(builtInStruct("meta.v1.PartialObjectMetadata"), whole);
    return { metadata: normal.value["metadata"] ?? {}, unknown: normal.unknownFields };
  } catch {
    return { metadata: sorted(value), unknown: [] };
  }
}

/** The value with keys in order at every level. */
function sorted(value: unknown, budget?: WorkBudget): unknown {
  if (Array.isArray(value)) return sortedItems(value, budget);
  if (!isJsonObject(value)) return value;
  let changed: Record<string, unknown> | undefined;
  const keys = Object.keys(value);
  budget?.charge(keys.length * UNKNOWN_UNITS);
  for (const key of keys) {
    const member = sorted(value[key], budget);
    if (member !== value[key]) setOwn((changed ??= { ...value }), key, member);
  }
  return withSortedKeys(changed ?? value);
}

function sortedItems(value: readonly unknown[], budget: WorkBudget | undefined): readonly unknown[] {
  let changed: unknown[] | undefined;
  budget?.charge(value.length);
  for (const [at, item] of value.entries()) {
    const after = sorted(item, budget);
    if (after !== item) (changed ??= [...value])[at] = after;
  }
  return changed ?? value;
}
