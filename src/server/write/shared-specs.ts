/**
 * One object for equal specs. Pods come by the thousand with the same spec: what normal form, defaults and admission make of it is worked out for
 * the first of them and then shared, frozen, by all that follow. Whatever else is found out of a frozen value can be kept with it (frozen-memo.ts),
 * so that nothing is checked, compared or written out once more for each of them.
 *
 * Nothing is decided here: what is found is what working it out again would give.
 */
import { freezeJson } from "../../api/json-freeze.ts";
import { isJsonObject } from "../../api/json-object.ts";
import type { JsonObject } from "../../api/json-object.ts";
import { stringifyJson } from "../../api/json-text.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import type { ApiObject, Draft } from "../../resources/kind-rules.ts";

/** Of each of two generations. More templates than this are hardly in use at once. */
const SPECS_MAX = 256;
/** Longer specs are rare, and would take much memory. */
const TEXT_MAX = 16 * 1024;

/** Stands for a spec that came once: most of them never come again, and nothing is kept of them. */
const ONCE = Symbol("once");

/** The specs of one resource by the text in which they were sent. */
export class SharedSpecs {
  /** By the hash of the text. */
  #young = new Map<number, SharedSpec | typeof ONCE>();
  /** Those that were last used before the young ones began: dropped when the young are as many again. */
  #old: ReadonlyMap<number, SharedSpec | typeof ONCE> = new Map();

  /** Undefined for what comes for the first time, is no spec, or too long. */
  find(sent: unknown): SharedSpec | undefined {
    return isJsonObject(sent) ? this.findText(stringifyJson(sent)) : undefined;
  }

  /** The same for a spec whose text is at hand. */
  findText(text: string): SharedSpec | undefined {
    if (text.length > TEXT_MAX) return undefined;
    const hash = hashOf(text);
    const young = this.#young.get(hash);
    if (young instanceof SharedSpec && young.text === text) return young;
    const known = young ?? this.#old.get(hash);
    if (known === undefined) {
      this.#keep(hash, ONCE);
      return undefined;
    }
    const found = known instanceof SharedSpec && known.text === text ? known : new SharedSpec(text);
    this.#keep(hash, found);
    return found;
  }

  #keep(hash: number, found: SharedSpec | typeof ONCE): void {
    if (this.#young.size === SPECS_MAX) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(hash, found);
  }
}

/** Two texts with the same one only push each other out. */
function hashOf(text: string): number {
  let hash = text.length;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}

/** One spec on its way, from its second time on. */
export class SharedSpec {
  readonly text: string;
  #begun: JsonObject | undefined;
  #made: JsonObject | undefined;
  #settled: JsonObject | undefined;

  constructor(text: string) {
    // A copy: a slice would keep in memory what it was cut from.
    this.text = Buffer.from(text).toString();
  }

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
