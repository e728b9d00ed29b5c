/**
 * Merges an applied configuration into the live value. Nothing is removed; where both have a leaf, the
 * configuration's stands. What does not change is the live value itself, so that a merge without effect returns it.
 */
import { type JsonObject, setOwn } from "../../json/json-object.ts";
import { jsonEqual } from "../../patch/json-equal.ts";
import type { ListSchema, MapSchema, Schema, StructSchema } from "../../schema/schema.ts";
import { itemElement } from "./path-element.ts";
import { granularList, granularMap, isFilledList, isFilledMap, isVoid, memberSchema } from "./shape.ts";

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

/** Null or empty, which states nothing, takes nothing away; a value of another type replaces. */
function instead(live: unknown, config: unknown): unknown {
  return isVoid(config) ? live : config;
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

/** The configuration's items keep their order; the others stand where they did among those that both have. */
function mergeLists(live: readonly unknown[], config: readonly unknown[], schema: ListSchema): unknown {
  const merged = new ListMerge(live, config, schema).run();
  return merged.length === live.length && merged.every((item, at) => item === live[at]) ? live : merged;
}

/**
 * The order of upstream, step by step: items of both lists are walked together, an item of both waits until its
 * turn in the configuration's order comes, and an item already taken is skipped.
 *   live [a, b, c, d], config [d, b, x]  →  [a, c, d, b, x]
 */
class ListMerge {
  readonly #schema: ListSchema;
  readonly #live: readonly unknown[];
  readonly #liveElements: readonly string[];
  readonly #configElements: readonly string[];
  /** `null` for an item that is there twice: it is not merged with. */
  readonly #liveItems = new Map<string, unknown>();
  readonly #configItems = new Map<string, unknown>();
  /** Elements of both lists, in the configuration's order, that have not had their turn. */
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

  /** It is in both lists, but another one's turn comes before. */
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
