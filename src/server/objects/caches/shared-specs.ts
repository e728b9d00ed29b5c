/**
 * Shares one frozen object between equal specs. Thousands of pods have the same spec: normal form, defaults and
 * admission are computed for the first and reused for the rest. Other results of a frozen value can be cached with it
 * (frozen-memo.ts).
 *
 * The cache only saves work: a lookup returns the result that computing again would give.
 */
import { cloneJson } from "../../../api/json/json-clone.ts";
import { freezeJson } from "../../../api/json/json-freeze.ts";
import { isJsonObject } from "../../../api/json/json-object.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { stringifyJson } from "../../../api/json/json-text.ts";
import { jsonEqual } from "../../../api/patch/json-equal.ts";
import type { ApiObject, Draft, KindRules } from "../../../resources/rules/kind-rules.ts";
import { RepeatedTexts, spanOf } from "./repeated-texts.ts";

/** Specs of one resource, keyed by their text as sent. */
export class SharedSpecs {
  readonly #sent = new RepeatedTexts<SharedSpec>();
  readonly #complete = new WeakMap<object, boolean>();

  /** Undefined on the first occurrence, for a value that is no spec, and for a long one. */
  find(sent: unknown): SharedSpec | undefined {
    return isJsonObject(sent) ? this.findText(stringifyJson(sent)) : undefined;
  }

  /** The same lookup for a spec in text form. */
  findText(text: string): SharedSpec | undefined {
    const span = spanOf(text);
    const known = this.#sent.find(span);
    if (known !== undefined || !this.#sent.hasCome(span)) return known;
    const shared = new SharedSpec();
    this.#sent.keep(span, shared);
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

/** The results for one spec that occurred at least twice. */
export class SharedSpec {
  #begun: JsonObject | undefined;
  #made: JsonObject | undefined;
  #settled: JsonObject | undefined;

  /** Normal form with defaults; frozen. Undefined until `begin` is called. */
  get begun(): JsonObject | undefined {
    return this.#begun;
  }

  begin(spec: unknown): void {
    if (isJsonObject(spec)) this.#begun ??= freezeJson(spec);
  }

  /** The stored form of a spec that left admission in this form; frozen. */
  findSettled(made: unknown): JsonObject | undefined {
    return this.#made !== undefined && jsonEqual(made, this.#made) ? this.#settled : undefined;
  }

  /** Keeps the last result only: it depends on little but the namespace. */
  settle(made: unknown, settled: unknown): void {
    if (this.#begun === undefined || !isJsonObject(made) || !isJsonObject(settled)) return;
    this.#made = freezeJson(made);
    this.#settled = freezeJson(settled);
  }
}

type WithSpec = Draft<ApiObject> & { spec?: unknown };

/** Copies the draft and its spec, so that the spec's members can be replaced; the members may be shared. */
export function withOwnSpec(draft: Draft<ApiObject>): WithSpec {
  const { spec } = draft as WithSpec;
  return isJsonObject(spec) ? { ...draft, spec: { ...spec } } : draft;
}
