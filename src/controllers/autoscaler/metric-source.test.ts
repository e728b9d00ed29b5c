import { describe, expect, test } from "vitest";
import { notFound, toStatus, unknownResource } from "../../api/errors/api-error.ts";
import type { MetricSpec } from "../../api/generated/types/autoscaling-v2.ts";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import { createClient } from "../../client/api-client.ts";
import { scripted, settled } from "../../client/fixture.ts";
import type { ScriptedAnswer } from "../../client/fixture.ts";
import { readMetrics } from "./metric-source.ts";
import type { MetricReading } from "./pod-metric.ts";

const TARGET = { type: "AverageValue", averageValue: "1" };
const QUEUE = { name: "queue", selector: { matchLabels: { tier: "web" } } };
const AT = "2026-01-01T00:00:00Z";
const MOMENT = { at: Date.parse(AT), windowMs: 30_000 };

const cpu = (container?: string): MetricSpec =>
  container === undefined
    ? { type: "Resource", resource: { name: "cpu", target: TARGET } }
    : { type: "ContainerResource", containerResource: { name: "cpu", container, target: TARGET } };
const pods: MetricSpec = { type: "Pods", pods: { metric: QUEUE, target: TARGET } };
const external: MetricSpec = { type: "External", external: { metric: QUEUE, target: TARGET } };
const object = (apiVersion: string, kind: string): MetricSpec => ({
  type: "Object",
  object: { metric: { name: "queue" }, target: TARGET, describedObject: { apiVersion, kind, name: "main" } },
});

const GROUP = { value: { preferredVersion: { groupVersion: "custom.metrics.k8s.io/v1beta2" } } };
/** Discovery documents of both group versions; the client requests one of them. */
const DISCOVERY = {
  value: {
    resources: [
      { name: "services", kind: "Service", namespaced: true },
      { name: "ingresses", kind: "Ingress", namespaced: true },
      { name: "nodes", kind: "Node", namespaced: false },
      { name: "namespaces", kind: "Namespace", namespaced: false },
    ],
  },
};
const REFUSED = { code: 404, value: toStatus(unknownResource()) };
const list = (...items: readonly object[]): ScriptedAnswer => ({ value: { items } });

async function read(
  metrics: readonly MetricSpec[],
  answers: readonly ScriptedAnswer[],
): Promise<{ readonly readings: readonly MetricReading[]; readonly asked: readonly string[] }> {
  const loop = new VirtualLoop({ seed: 1 });
  const transport = scripted(answers);
  const client = createClient(transport, { loop });
  const place = { client, namespace: "shop", selector: "app=web" };
  const readings = await settled(loop, readMetrics(metrics, place));
  const asked = transport.requests.map(
    ({ path, query = {} }) => `${path}?${new URLSearchParams(query as Record<string, string>).toString()}`,
  );
  return { readings, asked };
}

describe("resource metrics", () => {
  const usage = list(
    {
      metadata: { name: "a", namespace: "shop" },
      timestamp: AT,
      window: "30s",
      containers: [
        { name: "app", usage: { cpu: "100m", memory: "1Mi" } },
        { name: "side", usage: { cpu: "1500u" } },
      ],
    },
    { metadata: { name: "b" }, timestamp: AT, window: "30s", containers: [{ name: "app", usage: {} }] },
  );

  test("sum a pod's containers, or pick one, in one request", async () => {
    const { readings, asked } = await read([cpu(), cpu("app")], [usage]);

    expect(readings).toEqual([
      { type: "pods", metrics: new Map([["a", { milli: 102, ...MOMENT }]]) },
      { type: "pods", metrics: new Map([["a", { milli: 100, ...MOMENT }]]) },
    ]);
    expect(asked).toEqual(["/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods?labelSelector=app%3Dweb"]);
  });

  test.each<[string, MetricSpec, ScriptedAnswer]>([
    ["container side not present in metrics for pod undefined/b", cpu("side"), usage],
    ["no metrics returned from resource metrics API", cpu(), list()],
    [
      "unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)",
      cpu(),
      REFUSED,
    ],
    [
      "unable to fetch metrics from resource metrics API: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
      cpu(),
      list({ metadata: { name: "a" }, containers: [{ name: "app", usage: { cpu: "much" } }] }),
    ],
  ])("cannot be read: %s", async (message, metric, answer) => {
    expect((await read([metric], [answer])).readings).toEqual([{ type: "failed", message }]);
  });
});

describe("metrics of adapters", () => {
  test("are selected by the pods' labels and by the metric's own", async () => {
    const item = { describedObject: { name: "a" }, value: "2500m", timestamp: AT, windowSeconds: 30 };
    const { readings, asked } = await read([pods], [GROUP, list(item)]);

    expect(readings).toEqual([{ type: "pods", metrics: new Map([["a", { milli: 2500, ...MOMENT }]]) }]);
    expect(asked[1]).toBe(
      "/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/pods/*/queue?metricLabelSelector=tier%3Dweb&labelSelector=app%3Dweb",
    );
  });

  test.each([
    ["v1", "Service", "namespaces/shop/services/main/queue"],
    ["networking.k8s.io/v1", "Ingress", "namespaces/shop/ingresses.networking.k8s.io/main/queue"],
    ["v1", "Node", "nodes/main/queue"],
    ["v1", "Namespace", "namespaces/main/metrics/queue"],
  ])("can describe an object of %s %s", async (apiVersion, kind, path) => {
    const { readings, asked } = await read(
      [object(apiVersion, kind)],
      [DISCOVERY, GROUP, list({ value: "7" })],
    );

    expect(readings).toEqual([{ type: "value", milli: 7000 }]);
    expect(asked.at(-1)).toBe(`/apis/custom.metrics.k8s.io/v1beta2/${path}?`);
  });

  test("are summed up if they are external", async () => {
    const { readings, asked } = await read([external], [list({ value: "1" }, { value: "500m" })]);

    expect(readings).toEqual([{ type: "value", milli: 1500 }]);
    expect(asked).toEqual([
      "/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/queue?labelSelector=tier%3Dweb",
    ]);
  });

  test.each<[string, MetricSpec, readonly ScriptedAnswer[]]>([
    ["no metrics returned from custom metrics API", pods, [GROUP, list()]],
    ["no metrics returned from external metrics API", external, [list()]],
    [
      'shop main/unable to fetch metrics from custom metrics API: services "main" not found',
      object("v1", "Service"),
      [
        DISCOVERY,
        GROUP,
        { code: 404, value: toStatus(notFound({ group: "", resource: "services" }, "main")) },
      ],
    ],
    [
      "unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered",
      pods,
      [REFUSED],
    ],
  ])("cannot be read: %s", async (message, metric, answers) => {
    expect((await read([metric], answers)).readings).toEqual([{ type: "failed", message }]);
  });
});
