/**
 * Merges an applied configuration into the live value. The merge removes nothing, and the configuration wins where both have
 * a leaf. Unchanged parts are those of the live value, so a merge without effect returns the live value itself.
 */
import { type JsonObject, setOwn } from "../../json/json-object.ts";
import { jsonEqual } from "../../patch/json-equal.ts";
import type { ListSchema, MapSchema, Schema, StructSchema } from "../../schema/schema.ts";
import {
  granularList,
  granularMap,
  isFilledList,
  isFilledMap,
  isEmptyValue,
  memberSchema,
} from "./granularity.ts";
import { itemElement } from "./path-element.ts";

export function merge(live: unknown, config: unknown, schema: Schema): unknown {
  if (config === undefined || config === live) return live;
  if (live === undefined) return config;
  const map = granularMap(schema);
  if (map !== undefined && isFilledMap(live)) {
    return isFilledMap(config) ? mergeMaps(live, config, map) : instead(live, config);
  }
  const list = granularList(schema);
  if (list !== undefined && isFilledList(live)) {
    return isFilledList(config) ? mergeLists(live, config, list) : instead(live, config);
  }
  return jsonEqual(live, config) ? live : config;
}

/** A null or empty configuration states nothing and keeps the live value. A value of another type replaces it. */
function instead(live: unknown, config: unknown): unknown {
  return isEmptyValue(config) ? live : config;
}

function mergeMaps(live: JsonObject, config: JsonObject, schema: StructSchema | MapSchema): JsonObject {
  let merged: Record<string, unknown> | undefined;
  for (const key in config) {
    const before = Object.hasOwn(live, key) ? live[key] : undefined;
    const after = merge(before, config[key], memberSchema(schema, key));
    if (after !== before) setOwn((merged ??= { ...live }), key, after);
  }
  return merged ?? live;
}

/**
 * Merges two lists. The configuration's items keep their order; the others keep their place among the items of both lists.
 */
function mergeLists(live: readonly unknown[], config: readonly unknown[], schema: ListSchema): unknown {
  const merged = new ListMerge(live, config, schema).run();
  return merged.length === live.length && merged.every((item, at) => item === live[at]) ? live : merged;
}

/**
 * Merges items in upstream's order. It walks both lists together. An item of both lists waits for its turn in the
 * configuration's order, and an item already taken is skipped.
 *   live [a, b, c, d], config [d, b, x]  →  [a, c, d, b, x]
 */
class ListMerge {
  readonly #schema: ListSchema;
  readonly #live: readonly unknown[];
  readonly #liveElements: readonly string[];
  readonly #configElements: readonly string[];
  /** Live items by element; `null` for a repeated item, which is not merged. */
  readonly #liveItems = new Map<string, unknown>();
  readonly #configItems = new Map<string, unknown>();
  /** Elements of both lists that are not yet taken, the next one last. */
  readonly #shared: string[];
  readonly #taken = new Set<string>();
  readonly #out: unknown[] = [];

  constructor(live: readonly unknown[], config: readonly unknown[], schema: ListSchema) {
    this.#schema = schema;
    this.#live = live;
    this.#liveElements = live.map((item) => itemElement(schema, item));
    this.#configElements = config.map((item) => itemElement(schema, item));
    for (const [at, element] of this.#liveElements.entries()) {
      this.#liveItems.set(element, this.#liveItems.has(element) ? null : live[at]);
    }
    for (const [at, element] of this.#configElements.entries()) this.#configItems.set(element, config[at]);
    this.#shared = this.#configElements.filter((element) => this.#liveItems.has(element)).toReversed();
  }

  run(): readonly unknown[] {
    let [at, turn] = [0, 0];
    while (at < this.#liveElements.length || turn < this.#configElements.length) {
      const element = this.#liveElements[at];
      const next = this.#configElements[turn];
      if (element !== undefined && !this.#configItems.has(element)) {
        this.#out.push(this.#live[at++]);
      } else if (element !== undefined && next !== undefined && this.#mustWait(element, next)) {
        at++;
      } else {
        if (element !== undefined && (element === next || this.#taken.has(element))) at++;
        if (next !== undefined) this.#take(next);
        turn++;
      }
    }
    return this.#out;
  }

  /** True when another item of both lists comes first. */
  #mustWait(element: string, next: string): boolean {
    const due = this.#shared.at(-1);
    return element !== next && due !== undefined && due !== element;
  }

  #take(element: string): void {
    this.#taken.add(element);
    if (this.#shared.at(-1) === element) this.#shared.pop();
    const live = this.#liveItems.get(element);
    const config = this.#configItems.get(element);
    this.#out.push(live === null ? config : merge(live, config, this.#schema.items));
  }
}
