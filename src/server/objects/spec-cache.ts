/**
 * Equal specs are one frozen object: thousands of pods have the same spec. Two indexes find it: by the text that
 * clients send (`SpecCache`, one for each kind) and by the text that is stored (`storedSpecs`).
 *
 * The cache only saves work: a lookup returns what computing again would give. Other results of a frozen value can be
 * cached with it (frozen-memo.ts).
 */
import { cloneJson } from "../../api/json/json-clone.ts";
import { freezeJson } from "../../api/json/json-freeze.ts";
import { isJsonObject } from "../../api/json/json-object.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import { stringifyJson } from "../../api/json/json-text.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import { spanOf, TextCache } from "../../base/collections/text-cache.ts";
import type { ApiObject, Draft, KindRules } from "../../resources/rules/kind-rules.ts";

/** Frozen specs of all kinds by their stored text. `encodeObject` adds them, `readStoredJson` finds and adds them. */
export const storedSpecs = new TextCache<JsonObject>();

/** Specs of one kind by the text that clients send. */
export class SpecCache {
  readonly #sent = new TextCache<SharedSpec>();
  readonly #complete = new WeakMap<object, boolean>();

  /** Undefined on the first occurrence, for a value that is no spec, and for a long one. */
  find(sent: unknown): SharedSpec | undefined {
    return isJsonObject(sent) ? this.findText(stringifyJson(sent)) : undefined;
  }

  /** The same lookup for a spec in text form. */
  findText(sent: string): SharedSpec | undefined {
    const text = spanOf(sent);
    const known = this.#sent.find(text);
    if (known !== undefined || !this.#sent.recurs(text)) return known;
    const shared = new SharedSpec();
    this.#sent.keep(text, shared);
    return shared;
  }

  /** True if the kind's defaults leave the spec unchanged. Only a frozen spec is checked, and only once. */
  isComplete(spec: unknown, rules: Pick<KindRules, "defaults">): boolean {
    if (!isJsonObject(spec) || !Object.isFrozen(spec)) return false;
    const known = this.#complete.get(spec);
    if (known !== undefined) return known;
    const draft: Record<string, unknown> = { spec: cloneJson(spec) };
    rules.defaults?.(draft as Draft<ApiObject>);
    const isComplete = jsonEqual(draft["spec"], spec);
    this.#complete.set(spec, isComplete);
    return isComplete;
  }
}

/** The forms of one spec that clients sent at least twice. The first write computes them, later writes reuse them. */
export class SharedSpec {
  #defaulted: JsonObject | undefined;
  #admitted: JsonObject | undefined;
  #stored: JsonObject | undefined;

  /** Normal form with defaults; frozen. Undefined until `keepDefaulted` is called. */
  get defaulted(): JsonObject | undefined {
    return this.#defaulted;
  }

  keepDefaulted(spec: unknown): void {
    if (isJsonObject(spec)) this.#defaulted ??= freezeJson(spec);
  }

  /** The stored form of a spec that left admission in this form; frozen. */
  findStored(admitted: unknown): JsonObject | undefined {
    return this.#admitted !== undefined && jsonEqual(admitted, this.#admitted) ? this.#stored : undefined;
  }

  /** Keeps the last result only: it depends on little but the namespace. */
  keepStored(admitted: unknown, stored: unknown): void {
    if (this.#defaulted === undefined || !isJsonObject(admitted) || !isJsonObject(stored)) return;
    this.#admitted = freezeJson(admitted);
    this.#stored = freezeJson(stored);
  }
}
