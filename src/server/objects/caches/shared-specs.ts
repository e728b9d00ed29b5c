/**
 * One object for equal specs. Pods come by the thousand with the same spec: what normal form, defaults and admission make of it is worked out for
 * the first of them and then shared, frozen, by all that follow. Whatever else is found out of a frozen value can be kept with it (frozen-memo.ts),
 * so that nothing is checked, compared or written out once more for each of them.
 *
 * Nothing is decided here: what is found is what working it out again would give.
 */
import { cloneJson } from "../../../api/json/json-clone.ts";
import { freezeJson } from "../../../api/json/json-freeze.ts";
import { isJsonObject } from "../../../api/json/json-object.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { stringifyJson } from "../../../api/json/json-text.ts";
import { jsonEqual } from "../../../api/patch/json-equal.ts";
import type { ApiObject, Draft, KindRules } from "../../../resources/rules/kind-rules.ts";
import { RepeatedTexts, spanOf } from "./repeated-texts.ts";

/** The specs of one resource by the text in which they were sent. */
export class SharedSpecs {
  readonly #sent = new RepeatedTexts<SharedSpec>();
  readonly #complete = new WeakMap<object, boolean>();

  /** Undefined for what comes for the first time, is no spec, or too long. */
  find(sent: unknown): SharedSpec | undefined {
    return isJsonObject(sent) ? this.findText(stringifyJson(sent)) : undefined;
  }

  /** The same for a spec whose text is at hand. */
  findText(text: string): SharedSpec | undefined {
    const span = spanOf(text);
    const known = this.#sent.find(span);
    if (known !== undefined || !this.#sent.hasCome(span)) return known;
    const shared = new SharedSpec();
    this.#sent.keep(span, shared);
    return shared;
  }

  /** Whether the defaults of its kind leave the spec as it is. Only a frozen one is looked at, and once. */
  isComplete(spec: unknown, rules: Pick<KindRules, "defaults">): boolean {
    if (!isJsonObject(spec) || !Object.isFrozen(spec)) return false;
    const known = this.#complete.get(spec);
    if (known !== undefined) return known;
    const draft = { spec: cloneJson(spec) };
    rules.defaults?.(draft as unknown as Draft<ApiObject>);
    const isComplete = jsonEqual(draft.spec, spec);
    this.#complete.set(spec, isComplete);
    return isComplete;
  }
}

/** One spec on its way, from its second time on. */
export class SharedSpec {
  #begun: JsonObject | undefined;
  #made: JsonObject | undefined;
  #settled: JsonObject | undefined;

  /** In normal form and with its defaults; frozen. Undefined while nobody has said. */
  get begun(): JsonObject | undefined {
    return this.#begun;
  }

  begin(spec: unknown): void {
    if (isJsonObject(spec)) this.#begun ??= freezeJson(spec);
  }

  /** What a spec that admission has left like this is stored as; frozen. */
  findSettled(made: unknown): JsonObject | undefined {
    return this.#made !== undefined && jsonEqual(made, this.#made) ? this.#settled : undefined;
  }

  /** Of one spec the last outcome is kept: it depends on little but the namespace. */
  settle(made: unknown, settled: unknown): void {
    if (this.#begun === undefined || !isJsonObject(made) || !isJsonObject(settled)) return;
    this.#made = freezeJson(made);
    this.#settled = freezeJson(settled);
  }
}

type WithSpec = Draft<ApiObject> & { spec?: unknown };

/** A draft with a spec of its own, whose members may be replaced; they themselves may be shared. */
export function withOwnSpec(draft: Draft<ApiObject>): WithSpec {
  const { spec } = draft as WithSpec;
  return isJsonObject(spec) ? { ...draft, spec: { ...spec } } : draft;
}
