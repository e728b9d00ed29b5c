/**
 * Indexes over labels and fields, so that a selective list costs what it returns. An index is made at the second query
 * for its attribute, kept while it is queried, and dropped when all indexes together take too much memory. Without an
 * index, a list scans all objects in slices.
 */
import type { Loop } from "../../../base/loop/loop.ts";
import type { YieldingWork } from "../../../base/loop/yielding-work.ts";
import type { Counter, Gauge, Metrics } from "../../../base/metrics/metrics.ts";
import type { View } from "../../../store/store.ts";
import type { StoredResource } from "../registry.ts";
import { indexableTerms } from "./selection-terms.ts";
import type { Selection, SelectionTerm } from "./selection-terms.ts";
import { ValueIndex } from "./value-index.ts";
import type { KeyRange } from "./value-index.ts";

interface SelectionIndexesParts {
  readonly loop: Loop;
  readonly metrics: Metrics;
  /** Bound of the estimated memory of all indexes. */
  readonly maxBytes?: number;
}

/** Attributes of a resource that one selection may bring to memory. */
const TERMS_MAX = 4;
/** Attributes that are remembered without an index. */
const ASKED_MAX = 1000;
const MAX_BYTES = 32 * 1024 * 1024;
/** An index without a query for this long is dropped, as is the memory of a first query. */
const IDLE_MS = 60_000;
/** Time for which an attribute whose index grew too large is scanned for. */
const REFUSED_MS = 10 * 60_000;

/** Attribute of a resource that was queried. */
interface Asked {
  usedAt: number;
  index: ValueIndex | undefined;
  /** Until then, no index is made. */
  refusedUntil: number;
}

export interface SelectedKeys {
  readonly keys: Iterable<{ readonly key: string }>;
  /** Attribute by which they were found, for metrics: `label` or `field`. */
  readonly by: string;
}

export class SelectionIndexes {
  readonly #loop: Loop;
  readonly #maxBytes: number;
  readonly #refusals: Counter;
  /** In the order of their last queries. */
  readonly #asked = new Map<string, Asked>();

  constructor({ loop, metrics, maxBytes = MAX_BYTES }: SelectionIndexesParts) {
    this.#loop = loop;
    this.#maxBytes = maxBytes;
    this.#refusals = refusalsIn(metrics);
    memoryIn(metrics).read(() => this.bytes);
  }

  get bytes(): number {
    let bytes = 0;
    for (const { index } of this.#asked.values()) bytes += index?.bytes ?? 0;
    return bytes;
  }

  /**
   * Keys in a range that may match the selection, fewer than the objects of the resource. Undefined where only a scan
   * finds them.
   */
  async select(
    selection: Selection,
    resource: StoredResource,
    { view, range }: { readonly view: View; readonly range: KeyRange },
  ): Promise<SelectedKeys | undefined> {
    const prefix = `/registry/${resource.storage.prefix}/`;
    let best:
      | { readonly term: SelectionTerm; readonly index: ValueIndex; readonly count: number }
      | undefined;
    for (const term of indexableTerms(selection, resource).slice(0, TERMS_MAX)) {
      const index = this.#indexFor(prefix, term);
      if (index === undefined) continue;
      const reading = index.ready(view, () => this.#turn());
      if (reading !== undefined) await reading;
      index.keepUp(view);
      const count = index.count(term.values, range);
      if (best === undefined || count < best.count) best = { term, index, count };
    }
    this.#stayWithin();
    const keys = best?.index.candidates(view, best.term.values, range);
    return keys === undefined || best === undefined ? undefined : { keys, by: kindOf(best.term) };
  }

  /**
   * Follows the changes, which costs little if done often, and drops what was not queried for a while. Returns true if
   * there were changes.
   */
  *keepUp(view: View): YieldingWork<boolean> {
    const before = this.#loop.elapsed() - IDLE_MS;
    let haveChanged = false;
    for (const [id, { usedAt, index, refusedUntil }] of this.#asked) {
      if (usedAt < before && refusedUntil < before + IDLE_MS) this.#asked.delete(id);
      else if (index !== undefined && (yield* index.keepUpInPieces(view))) haveChanged = true;
    }
    this.#stayWithin();
    return haveChanged;
  }

  #indexFor(prefix: string, { attribute }: SelectionTerm): ValueIndex | undefined {
    const id = `${prefix} ${attribute.id}`;
    const now = this.#loop.elapsed();
    const known = this.#asked.get(id);
    const asked = known ?? { usedAt: now, index: undefined, refusedUntil: -Infinity };
    this.#asked.delete(id);
    this.#asked.set(id, asked);
    if (known === undefined) this.#forgetOldest();
    asked.usedAt = now;
    if (known === undefined || asked.refusedUntil > now) return undefined;
    return (asked.index ??= new ValueIndex(prefix, attribute.valueOf));
  }
  #forgetOldest(): void {
    const [oldest] = this.#asked.keys();
    if (this.#asked.size > ASKED_MAX && oldest !== undefined) this.#asked.delete(oldest);
  }

  #stayWithin(): void {
    let bytes = this.bytes;
    while (bytes > this.#maxBytes) {
      const largest = [...this.#asked.values()].sort(
        (a, b) => (b.index?.bytes ?? 0) - (a.index?.bytes ?? 0),
      )[0];
      if (largest?.index === undefined) return;
      bytes -= largest.index.bytes;
      largest.index = undefined;
      largest.refusedUntil = this.#loop.elapsed() + REFUSED_MS;
      this.#refusals.add();
    }
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => this.#loop.post("request", resolve));
  }
}

/** `label` or `field`. */
function kindOf({ attribute: { id } }: SelectionTerm): string {
  return id.slice(0, id.indexOf(" "));
}

function refusalsIn(metrics: Metrics): Counter {
  return metrics.counter({
    name: "setpoint_apiserver_selection_indexes_refused_total",
    help: "Number of indexes over labels and fields that were dropped because all of them together took too much memory. Lists by such a label or field scan all objects of the resource.",
  });
}

function memoryIn(metrics: Metrics): Gauge {
  return metrics.gauge({
    name: "setpoint_apiserver_selection_index_bytes",
    help: "Estimated memory of the indexes over labels and fields.",
  });
}
