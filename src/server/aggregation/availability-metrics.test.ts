import { expect, test } from "vitest";
import { createMetrics } from "../../base/metrics/prom-metrics.ts";
import { availabilityMetrics } from "./availability-metrics.ts";
import { failedDiscovery, PASSED } from "./availability.ts";

test("the metrics show which extension servers are available, and count each loss", async () => {
  const metrics = createMetrics();
  const looked = availabilityMetrics(metrics);
  const failed = failedDiscovery("https://api", "no");

  looked("v1.a", true, PASSED);
  looked("v1.b", true, failed);
  looked("v1.b", false, failed);

  const lines = (await metrics.expose()).split("\n").filter((line) => line.startsWith("aggregator_"));
  expect(lines).toEqual([
    'aggregator_unavailable_apiservice{name="v1.a"} 0',
    'aggregator_unavailable_apiservice{name="v1.b"} 1',
    'aggregator_unavailable_apiservice_total{name="v1.b",reason="FailedDiscoveryCheck"} 1',
  ]);
});
