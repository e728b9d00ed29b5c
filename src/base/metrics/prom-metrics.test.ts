import { describe, expect, test } from "vitest";
import { createMetrics } from "./prom-metrics.ts";

describe("createMetrics", () => {
  test("all kinds of metrics are exposed in the Prometheus text format", async () => {
    const metrics = createMetrics();
    metrics.counter({ name: "c_total", help: "c", labels: ["actor"] }).add(2, { actor: "a" });
    metrics.gauge({ name: "g", help: "g" }).set(5);
    metrics.histogram({ name: "h", help: "h", buckets: [1, 10] }).observe(3);

    const text = await metrics.expose();

    expect(text).toContain('c_total{actor="a"} 2');
    expect(text).toContain("g 5");
    expect(text).toContain('h_bucket{le="10"} 1');
  });

  test("counts under bound labels are exposed like others, once", async () => {
    const metrics = createMetrics();
    const counter = metrics.counter({ name: "c_total", help: "c", labels: ["actor"] });
    const bound = counter.bind({ actor: "a" });
    bound.add();
    counter.add(2, { actor: "a" });
    await metrics.expose();
    bound.add();

    expect(await metrics.expose()).toContain('c_total{actor="a"} 4');
  });

  test("a gauge with a source reads it when metrics are exposed, until stopped", async () => {
    const metrics = createMetrics();
    let depth = 1;
    const stop = metrics.gauge({ name: "g", help: "g", labels: ["queue"] }).read(() => depth, { queue: "q" });
    depth = 7;

    const during = await metrics.expose();
    stop();

    expect(during).toContain('g{queue="q"} 7');
    expect(await metrics.expose()).not.toContain('g{queue="q"}');
  });

  test("a counter with a source reads it when metrics are exposed, and keeps the last value once stopped", async () => {
    const metrics = createMetrics();
    let count = 1;
    const stop = metrics.counter({ name: "c_total", help: "c" }).read(() => count);
    count = 7;

    const during = await metrics.expose();
    count = 8;
    stop();
    count = 9;

    expect(during).toContain("# TYPE c_total counter\nc_total 7");
    expect(await metrics.expose()).toContain("c_total 8");
  });

  test("a metric is also exposed under its second name and label", async () => {
    const metrics = createMetrics();
    const alsoAs = { name: "other_seconds", label: "name" };
    const options = { name: "h_seconds", help: "h", labels: ["controller"], buckets: [1], alsoAs };
    metrics.histogram(options).observe(0.5, { controller: "a" });

    const text = await metrics.expose();

    expect(text).toContain('h_seconds_bucket{controller="a",le="1"} 1');
    expect(text).toContain("# TYPE other_seconds histogram");
    expect(text).toContain('other_seconds_bucket{name="a",le="1"} 1');
    expect(text).toContain('other_seconds_count{name="a"} 1');
  });

  test("values under bound labels are exposed like others", async () => {
    const metrics = createMetrics();
    const histogram = metrics.histogram({ name: "h", help: "h", labels: ["actor"], buckets: [1, 10] });
    const bound = histogram.bind({ actor: "a" });
    bound.observe(3);
    bound.observe(30);
    histogram.observe(0.5, { actor: "a" });

    const text = await metrics.expose();

    expect(text).toContain('h_bucket{actor="a",le="1"} 1');
    expect(text).toContain('h_bucket{actor="a",le="10"} 2');
    expect(text).toContain('h_bucket{actor="a",le="+Inf"} 3');
    expect(text).toContain('h_sum{actor="a"} 33.5');
    expect(text).toContain('h_count{actor="a"} 3');
  });

  test("requesting a name twice returns the same metric", async () => {
    const metrics = createMetrics();
    metrics.counter({ name: "c_total", help: "c" }).add();
    metrics.counter({ name: "c_total", help: "c" }).add();

    expect(await metrics.expose()).toContain("c_total 2");
  });

  test("characters that would end a text or a line early are escaped", async () => {
    const metrics = createMetrics();
    metrics.counter({ name: "c_total", help: "a\nb", labels: ["text"] }).add(1, { text: 'a"b\\c\nd' });

    const text = await metrics.expose();

    expect(text).toContain("# HELP c_total a\\nb\n");
    expect(text).toContain('c_total{text="a\\"b\\\\c\\nd"} 1\n');
  });

  test("a metric without labels is exposed before its first use", async () => {
    const metrics = createMetrics();
    metrics.counter({ name: "c_total", help: "c" });
    metrics.counter({ name: "l_total", help: "l", labels: ["actor"] });

    const text = await metrics.expose();

    expect(text).toContain("# TYPE c_total counter\nc_total 0\n");
    expect(text).not.toContain("\nl_total");
  });

  test("undeclared labels and decreasing counts are rejected", () => {
    const counter = createMetrics().counter({ name: "c_total", help: "c", labels: ["actor"] });

    expect(() => counter.add(1, { other: "a" })).toThrow("no other labels than actor");
    expect(() => counter.add(-1, { actor: "a" })).toThrow("only grows");
  });

  test("one name for two types is rejected", () => {
    const metrics = createMetrics();
    metrics.counter({ name: "c_total", help: "c" });

    expect(() => metrics.gauge({ name: "c_total", help: "c" })).toThrow("of another type");
  });

  test("two registries are independent", async () => {
    createMetrics().counter({ name: "c_total", help: "c" }).add();

    expect(await createMetrics().expose()).not.toContain("c_total");
  });
});
