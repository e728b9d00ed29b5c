/** Metrics kept by prom-client in a registry of their own, so that two clusters in one process do not mix. */

import * as prometheus from "prom-client";
import { assert } from "./assert.ts";
import type { BoundHistogram, Counter, Gauge, Histogram, Labels, Metrics, MetricOptions } from "./metrics.ts";

export function createMetrics(): Metrics {
  const registry = new prometheus.Registry();
  const counters = new Map<string, Counter>();
  const gauges = new Map<string, Gauge>();
  const histograms = new Map<string, Histogram>();
  return {
    counter: (options) => once(counters, options.name, () => createCounter(registry, options)),
    gauge: (options) => once(gauges, options.name, () => createGauge(registry, options)),
    histogram: (options) => once(histograms, options.name, () => createHistogram(registry, options)),
    expose: () => registry.metrics(),
  };

  function once<M>(known: Map<string, M>, name: string, create: () => M): M {
    const existing = known.get(name);
    if (existing !== undefined) return existing;
    assert(
      registry.getSingleMetric(name) === undefined,
      `the metric ${name} exists already and is of another type`,
    );
    const created = create();
    known.set(name, created);
    return created;
  }
}

type Registered = prometheus.Registry;

function createCounter(registry: Registered, options: MetricOptions): Counter {
  const bound: { readonly labels: Labels; sinceCollected: number }[] = [];
  const collect = (): void => {
    for (const count of bound) {
      if (count.sinceCollected > 0) counter.inc(count.labels, count.sinceCollected);
      count.sinceCollected = 0;
    }
  };
  const counter = new prometheus.Counter({ ...configuration(registry, options), collect });
  return {
    add: (amount = 1, labels = {}) => counter.inc(labels, amount),
    bind: (labels) => {
      const count = { labels, sinceCollected: 0 };
      bound.push(count);
      return { add: (amount = 1) => void (count.sinceCollected += amount) };
    },
  };
}

function createGauge(registry: Registered, options: MetricOptions): Gauge {
  const sources = new Set<{ readonly source: () => number; readonly labels: Labels }>();
  const collect = (): void => {
    for (const { source, labels } of sources) gauge.set(labels, source());
  };
  const gauge = new prometheus.Gauge({ ...configuration(registry, options), collect });
  return {
    set: (value, labels = {}) => gauge.set(labels, value),
    read: (source, labels = {}) => {
      const entry = { source, labels };
      sources.add(entry);
      return () => {
        if (sources.delete(entry)) gauge.remove(labels);
      };
    },
  };
}

function createHistogram(
  registry: Registered,
  options: MetricOptions & { readonly buckets: readonly number[] },
): Histogram {
  const buckets = [...options.buckets];
  const bound: BoundValues[] = [];
  const collect = (): void => {
    for (const values of bound) settle(values);
  };
  const histogram = new prometheus.Histogram({ ...configuration(registry, options), buckets, collect });
  return {
    observe: (value, labels = {}) => histogram.observe(labels, value),
    bind: (labels) => bindHistogram({ histogram, buckets, bound }, labels),
  };
}

/** Observations since the last collection, by bucket: a number is a dear key of an object. */
interface BoundValues {
  readonly kept: KeptValues;
  readonly buckets: readonly number[];
  readonly counts: number[];
}

function settle({ kept, buckets, counts }: BoundValues): void {
  for (const [at, bucket] of buckets.entries()) {
    kept.bucketValues[bucket] = (kept.bucketValues[bucket] ?? 0) + (counts[at] ?? 0);
    counts[at] = 0;
  }
}

/** What prom-client keeps for one set of labels. */
interface KeptValues {
  readonly labels: Labels;
  readonly bucketValues: Record<number, number>;
  sum: number;
  count: number;
}

/**
 * prom-client checks and joins all labels at each observation, which costs as much as the rest of a small request. The
 * place where it keeps the values is not in its types: without it we observe the long way.
 */
function bindHistogram(
  {
    histogram,
    buckets,
    bound,
  }: {
    readonly histogram: prometheus.Histogram;
    readonly buckets: readonly number[];
    readonly bound: BoundValues[];
  },
  labels: Labels,
): BoundHistogram {
  const { hashMap = {} } = histogram as { readonly hashMap?: Readonly<Record<string, KeptValues>> };
  const find = (): KeptValues | undefined =>
    Object.values(hashMap).find((values) =>
      Object.entries(labels).every(([name, value]) => values.labels[name] === value),
    );
  if (find() === undefined) histogram.zero(labels);
  const kept = find();
  if (kept === undefined) return { observe: (value) => histogram.observe(labels, value) };
  const counts = buckets.map(() => 0);
  bound.push({ kept, buckets, counts });
  return {
    observe: (value) => {
      kept.sum += value;
      kept.count += 1;
      const at = buckets.findIndex((most) => value <= most);
      if (at >= 0) counts[at] = (counts[at] ?? 0) + 1;
    },
  };
}

function configuration(
  registry: Registered,
  { name, help, labels = [] }: MetricOptions,
): { name: string; help: string; labelNames: string[]; registers: Registered[] } {
  return { name, help, labelNames: [...labels], registers: [registry] };
}
