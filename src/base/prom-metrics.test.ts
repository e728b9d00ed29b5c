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

  test("asking twice for one name gives the same metric", async () => {
    const metrics = createMetrics();
    metrics.counter({ name: "c_total", help: "c" }).add();
    metrics.counter({ name: "c_total", help: "c" }).add();

    expect(await metrics.expose()).toContain("c_total 2");
  });

  test("one name for two types is refused", () => {
    const metrics = createMetrics();
    metrics.counter({ name: "c_total", help: "c" });

    expect(() => metrics.gauge({ name: "c_total", help: "c" })).toThrow("of another type");
  });

  test("two sets of metrics do not mix", async () => {
    createMetrics().counter({ name: "c_total", help: "c" }).add();

    expect(await createMetrics().expose()).not.toContain("c_total");
  });
});
