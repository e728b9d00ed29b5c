import { describe, expect, test } from "vitest";
import type { MetricSpec, MetricTarget } from "../../api/generated/types/autoscaling-v2.ts";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import type { MetricReading } from "./pod-metric.ts";
import { propose } from "./proposal.ts";

const NOW = Date.parse("2026-01-01T01:00:00Z");
const READY = { type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" };
const PODS = ["a", "b"].map((name) =>
  incomplete<Pod>({
    metadata: { name },
    spec: {
      containers: [{ name: "app", resources: { requests: { cpu: "100m", memory: "64Mi" } } }],
    },
    status: { phase: "Running", startTime: "2026-01-01T00:00:00Z", conditions: [READY] },
  }),
);
const SIZING = {
  currentReplicas: 2,
  statusReplicas: 2,
  pods: PODS,
  tolerances: { down: 0.1, up: 0.1 },
  now: NOW,
};

const measured = (milli: number): MetricReading => ({
  type: "pods",
  metrics: new Map(["a", "b"].map((name) => [name, { milli, at: NOW, windowMs: 15_000 }])),
});
const value = (milli: number): MetricReading => ({ type: "value", milli });
const metric = { name: "qps" };
const web = { kind: "Service", name: "web" };

const resource = (name: string, target: MetricTarget): MetricSpec => ({
  type: "Resource",
  resource: { name, target },
});
const half = { type: "Utilization", averageUtilization: 50 };
const ten = { type: "AverageValue", averageValue: "10" };
const external = (target: MetricTarget): MetricSpec => ({ type: "External", external: { metric, target } });

describe("a metric proposes a size", () => {
  test.each<[string, MetricSpec, MetricReading, object]>([
    [
      "cpu resource utilization (percentage of request)",
      resource("cpu", half),
      measured(90),
      {
        replicas: 4,
        status: {
          type: "Resource",
          resource: { name: "cpu", current: { averageUtilization: 90, averageValue: "90m" } },
        },
      },
    ],
    [
      "memory resource",
      resource("memory", { type: "AverageValue", averageValue: "32Mi" }),
      measured(64 * 1024 * 1024 * 1000),
      {
        replicas: 4,
        status: {
          type: "Resource",
          resource: { name: "memory", current: { averageValue: "67108864" } },
        },
      },
    ],
    [
      "cpu container resource utilization (percentage of request)",
      { type: "ContainerResource", containerResource: { name: "cpu", container: "app", target: half } },
      measured(100),
      {
        replicas: 4,
        status: {
          type: "ContainerResource",
          containerResource: {
            name: "cpu",
            container: "app",
            current: { averageUtilization: 100, averageValue: "100m" },
          },
        },
      },
    ],
    [
      "pods metric qps",
      { type: "Pods", pods: { metric, target: ten } },
      measured(20_000),
      { replicas: 4, status: { type: "Pods", pods: { metric, current: { averageValue: "20" } } } },
    ],
    [
      "Service metric qps",
      {
        type: "Object",
        object: { metric, describedObject: web, target: { type: "Value", value: "10" } },
      },
      value(30_000),
      {
        replicas: 6,
        status: { type: "Object", object: { metric, describedObject: web, current: { value: "30" } } },
      },
    ],
    [
      "external metric qps",
      external(ten),
      value(50_000),
      { replicas: 5, status: { type: "External", external: { metric, current: { averageValue: "25" } } } },
    ],
  ])("as %s", (name, spec, ...[reading, expected]) => {
    expect(propose(spec, reading, SIZING)).toEqual({ type: "proposed", name, ...expected });
  });

  test.each<[string, MetricSpec, string, string]>([
    [
      "FailedGetResourceMetric",
      resource("cpu", half),
      "failed to get cpu utilization: unable to get metrics for resource cpu: why",
      "failed to get cpu resource metric value",
    ],
    [
      "FailedGetResourceMetric",
      resource("cpu", ten),
      "failed to get cpu usage: unable to get metrics for resource cpu: why",
      "failed to get cpu resource metric value",
    ],
    [
      "FailedGetContainerResourceMetric",
      { type: "ContainerResource", containerResource: { name: "cpu", container: "app", target: half } },
      "failed to get cpu utilization: unable to get metrics for resource cpu: why",
      "failed to get cpu container metric value",
    ],
    [
      "FailedGetPodsMetric",
      { type: "Pods", pods: { metric, target: ten } },
      "unable to get metric qps: why",
      "failed to get pods metric value",
    ],
    [
      "FailedGetObjectMetric",
      { type: "Object", object: { metric, describedObject: web, target: ten } },
      "unable to get metric qps: Service on why",
      "failed to get object metric value",
    ],
    [
      "FailedGetExternalMetric",
      external(ten),
      "failed to get qps external metric: unable to get external metric qps: why",
      "failed to get external metric value",
    ],
  ])("or fails with %s", (reason, spec, ...[message, prefix]) => {
    expect(propose(spec, { type: "failed", message: "why" }, SIZING)).toEqual({
      type: "failed",
      reason,
      message,
      error: `${prefix}: ${message}`,
    });
  });

  test("but never for a target of zero", () => {
    const target = { type: "Value", value: "0" };
    expect(propose(external(target), value(1), SIZING)).toMatchObject({ type: "failed" });
  });
});
