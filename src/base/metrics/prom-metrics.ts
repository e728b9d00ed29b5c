/**
 * Metrics in the Prometheus text format. Each registry is independent, so that two clusters in one process do not
 * mix.
 */
import { assert } from "../assert.ts";
import type {
  BoundCounter,
  BoundHistogram,
  Counter,
  Gauge,
  Histogram,
  Labels,
  MetricOptions,
  Metrics,
} from "./metrics.ts";

export function createMetrics(): Metrics {
  const metrics = new Map<string, Exposed>();
  return {
    counter: (options) => once(KeptCounter, options),
    gauge: (options) => once(KeptGauge, options),
    histogram: (options) => once(KeptHistogram, options),
    expose: () => Promise.resolve([...metrics.values()].map(textOf).join("\n")),
  };

  function once<O extends MetricOptions, M extends Exposed>(Type: new (options: O) => M, options: O): M {
    const known = metrics.get(options.name);
    if (known !== undefined) {
      assert(known instanceof Type, `the metric ${options.name} exists already and is of another type`);
      return known;
    }
    const created = new Type(options);
    metrics.set(options.name, created);
    return created;
  }
}

interface Exposed {
  readonly options: MetricOptions;
  readonly type: "counter" | "gauge" | "histogram";
  /** Sample lines, in the order in which their labels were first used. */
  samples(): readonly string[];
}

function textOf(metric: Exposed): string {
  const { options, type } = metric;
  const { name, labels: [label = ""] = [], alsoAs } = options;
  const own = metric.samples();
  if (alsoAs === undefined) return linesOf(options, type, own);
  const others = own.map((line) =>
    `${alsoAs.name}${line.slice(name.length)}`.replace(`{${label}="`, `{${alsoAs.label}="`),
  );
  return `${linesOf(options, type, own)}\n${linesOf({ ...options, name: alsoAs.name }, type, others)}`;
}

function linesOf({ name, help }: MetricOptions, type: Exposed["type"], samples: readonly string[]): string {
  const lines = [
    `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}`,
    `# TYPE ${name} ${type}`,
    ...samples,
  ];
  return `${lines.join("\n")}\n`;
}

class KeptCounter implements Counter, Exposed {
  readonly options: MetricOptions;
  readonly type = "counter";
  readonly #counts: LabelSets<Count>;
  readonly #sources = new Set<{ readonly source: () => number; readonly count: Count }>();

  constructor(options: MetricOptions) {
    this.options = options;
    this.#counts = new LabelSets(options, () => new Count());
  }

  add(amount = 1, labels: Labels = {}): void {
    this.#counts.of(labels).add(amount);
  }

  bind(labels: Labels): BoundCounter {
    return this.#counts.of(labels);
  }

  read(source: () => number, labels: Labels = {}): () => void {
    const entry = { source, count: this.#counts.of(labels) };
    this.#sources.add(entry);
    return () => {
      entry.count.value = source();
      this.#sources.delete(entry);
    };
  }

  samples(): readonly string[] {
    for (const { source, count } of this.#sources) count.value = source();
    return this.#counts.map((labels, { value }) => sample(this.options.name, labels, value));
  }
}

class Count implements BoundCounter {
  value = 0;

  add(amount = 1): void {
    assert(amount >= 0, "a counter only grows");
    this.value += amount;
  }
}

class KeptGauge implements Gauge, Exposed {
  readonly options: MetricOptions;
  readonly type = "gauge";
  readonly #values: LabelSets<{ value: number }>;
  readonly #sources = new Set<{ readonly source: () => number; readonly labels: Labels }>();

  constructor(options: MetricOptions) {
    this.options = options;
    this.#values = new LabelSets(options, () => ({ value: 0 }));
  }

  set(value: number, labels: Labels = {}): void {
    this.#values.of(labels).value = value;
  }

  read(source: () => number, labels: Labels = {}): () => void {
    const entry = { source, labels };
    this.#sources.add(entry);
    return () => {
      if (this.#sources.delete(entry)) this.#values.remove(labels);
    };
  }

  samples(): readonly string[] {
    for (const { source, labels } of this.#sources) this.set(source(), labels);
    return this.#values.map((labels, { value }) => sample(this.options.name, labels, value));
  }
}

type HistogramOptions = MetricOptions & { readonly buckets: readonly number[] };

class KeptHistogram implements Histogram, Exposed {
  readonly options: HistogramOptions;
  readonly type = "histogram";
  readonly #distributions: LabelSets<Distribution>;

  constructor(options: HistogramOptions) {
    this.options = options;
    this.#distributions = new LabelSets(options, () => new Distribution(options.buckets));
  }

  observe(value: number, labels: Labels = {}): void {
    this.#distributions.of(labels).observe(value);
  }

  bind(labels: Labels): BoundHistogram {
    return this.#distributions.of(labels);
  }

  samples(): readonly string[] {
    const { name } = this.options;
    return this.#distributions
      .map((labels, distribution) => [
        ...distribution
          .upTo()
          .map(([most, count]) => sample(`${name}_bucket`, withBound(most, labels), count)),
        sample(`${name}_sum`, labels, distribution.sum),
        sample(`${name}_count`, labels, distribution.count),
      ])
      .flat();
  }
}

class Distribution implements BoundHistogram {
  readonly #buckets: readonly number[];
  /** Counts per bucket, without those of lower buckets. */
  readonly #counts: number[];
  sum = 0;
  count = 0;

  constructor(buckets: readonly number[]) {
    this.#buckets = buckets;
    this.#counts = buckets.map(() => 0);
  }

  observe(value: number): void {
    this.sum += value;
    this.count += 1;
    const at = this.#bucketOf(value);
    if (at < this.#counts.length) this.#counts[at] = (this.#counts[at] ?? 0) + 1;
  }

  /** Index of the first bucket that contains the value. Binary search, because every request records three values. */
  #bucketOf(value: number): number {
    let low = 0;
    let high = this.#buckets.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (value <= (this.#buckets[middle] ?? Infinity)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Cumulative count for each upper bound. */
  upTo(): readonly (readonly [most: number, count: number])[] {
    let below = 0;
    const bounded = this.#buckets.map((most, at) => [most, (below += this.#counts[at] ?? 0)] as const);
    return [...bounded, [Infinity, this.count]];
  }
}

/** Values by set of labels. A metric without labels has its single value from the start. */
class LabelSets<Kept> {
  readonly #metric: string;
  /** In alphabetical order, as is usual. */
  readonly #names: readonly string[];
  readonly #create: () => Kept;
  /** By the labels in text form: `code="200",verb="GET"`. */
  readonly #sets = new Map<string, Kept>();

  constructor({ name, labels = [] }: MetricOptions, create: () => Kept) {
    this.#metric = name;
    this.#names = labels.toSorted();
    this.#create = create;
    if (labels.length === 0) this.of({});
  }

  of(labels: Labels): Kept {
    const text = this.#textOf(labels);
    const known = this.#sets.get(text);
    if (known !== undefined) return known;
    const created = this.#create();
    this.#sets.set(text, created);
    return created;
  }

  remove(labels: Labels): void {
    this.#sets.delete(this.#textOf(labels));
  }

  map<T>(make: (labels: string, kept: Kept) => T): readonly T[] {
    return Array.from(this.#sets, ([labels, kept]) => make(labels, kept));
  }

  #textOf(labels: Labels): string {
    const given = this.#names.filter((label) => labels[label] !== undefined);
    if (given.length !== Object.keys(labels).length)
      throw new Error(`the metric ${this.#metric} has no other labels than ${this.#names.join(", ")}`);
    return given.map((label) => `${label}="${escaped(labels[label] ?? "")}"`).join(",");
  }
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}

function withBound(most: number, labels: string): string {
  const bound = `le="${numberText(most)}"`;
  return labels === "" ? bound : `${labels},${bound}`;
}

function sample(name: string, labels: string, value: number): string {
  return `${name}${labels === "" ? "" : `{${labels}}`} ${numberText(value)}`;
}

function numberText(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}
