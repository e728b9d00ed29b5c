/** Metrics kept by prom-client in a registry of their own, so that two clusters in one process do not mix. */

import * as prometheus from "prom-client";
import { assert } from "./assert.ts";
import type { Counter, Gauge, Histogram, Metrics, MetricOptions } from "./metrics.ts";

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
  const counter = new prometheus.Counter(configuration(registry, options));
  return { add: (amount = 1, labels = {}) => counter.inc(labels, amount) };
}

function createGauge(registry: Registered, options: MetricOptions): Gauge {
  const gauge = new prometheus.Gauge(configuration(registry, options));
  return { set: (value, labels = {}) => gauge.set(labels, value) };
}

function createHistogram(
  registry: Registered,
  options: MetricOptions & { readonly buckets: readonly number[] },
): Histogram {
  const buckets = [...options.buckets];
  const histogram = new prometheus.Histogram({ ...configuration(registry, options), buckets });
  return { observe: (value, labels = {}) => histogram.observe(labels, value) };
}

function configuration(
  registry: Registered,
  { name, help, labels = [] }: MetricOptions,
): { name: string; help: string; labelNames: string[]; registers: Registered[] } {
  return { name, help, labelNames: [...labels], registers: [registry] };
}
