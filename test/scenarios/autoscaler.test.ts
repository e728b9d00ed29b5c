import { describe, expect, test } from "vitest";
import type { Manifest } from "../../src/api/api-object.ts";
import { Deployment } from "../../src/api/generated/types/apps-v1.ts";
import { HorizontalPodAutoscaler } from "../../src/api/generated/types/autoscaling-v2.ts";
import type { HorizontalPodAutoscalerSpec } from "../../src/api/generated/types/autoscaling-v2.ts";
import { Event, Node, Pod } from "../../src/api/generated/types/core-v1.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { isActive, isReady } from "../../src/resources/pod/pod-state.ts";
import { defineResource } from "../../src/runtime/kinds/resource-definition.ts";
import { t } from "../../src/runtime/kinds/schema-part.ts";

const LOOPS = ["deployment-controller", "replicaset-controller", "horizontal-pod-autoscaler"];
const CPU = "simulated.setpoint.dev/cpu";

describe.each([1, 2, 3])("a HorizontalPodAutoscaler, seed %s", (seed) => {
  test("leaves a workload alone whose load is near its target", async () => {
    await using cluster = await startWith({ seed, cpu: "52m" });
    const before = cluster.objects(HorizontalPodAutoscaler);

    await cluster.clock.advance("10m");

    expect(replicas(cluster)).toBe(2);
    expect(cluster.objects(HorizontalPodAutoscaler)).toEqual(before);
    expect(hpa(cluster).status).toMatchObject({
      currentReplicas: 2,
      desiredReplicas: 2,
      currentMetrics: [
        {
          type: "Resource",
          resource: { name: "cpu", current: { averageUtilization: 52, averageValue: "52m" } },
        },
      ],
    });
    expect(conditions(cluster)).toEqual([
      "AbleToScale=True ReadyForNewScale",
      "ScalingActive=True ValidMetricFound",
      "ScalingLimited=False DesiredWithinRange",
    ]);
  });

  test("grows a workload with its load, up to its bound, and tells so", async () => {
    await using cluster = await startWith({ seed, cpu: "50m" });

    await use(cluster, "90m");
    await cluster.clock.advance("20s");
    expect(replicas(cluster)).toBe(4);
    expect(hpa(cluster).status).toMatchObject({ currentReplicas: 2, desiredReplicas: 4 });
    expect(hpa(cluster).status.lastScaleTime).toBeDefined();
    expect(conditions(cluster)[0]).toBe("AbleToScale=True SucceededRescale");
    await use(cluster, "500m");
    await cluster.clock.advance("10m");

    expect(replicas(cluster)).toBe(6);
    expect(conditions(cluster)).toContain("ScalingLimited=True TooManyReplicas");
    expect(events(cluster)).toContain(
      "New size: 4; reason: cpu resource utilization (percentage of request) above target",
    );
  });

  test("shrinks a workload only after five minutes of little load", async () => {
    await using cluster = await startWith({ seed, cpu: "50m", replicas: 4 });

    await use(cluster, "10m");
    await cluster.clock.advance("4m");
    expect(replicas(cluster)).toBe(4);
    expect(conditions(cluster)[0]).toBe("AbleToScale=True ScaleDownStabilized");
    await cluster.clock.advance("90s");

    expect(replicas(cluster)).toBe(1);
    expect(events(cluster)).toContain("New size: 1; reason: All metrics below target");
  });

  test("goes on in the middle of the five minutes after a restart", async () => {
    await using cluster = await startWith({ seed, cpu: "50m", replicas: 4 });
    await use(cluster, "10m");
    await cluster.clock.advance("4m");

    await using restarted = await cluster.fork();
    await restarted.clock.advance("30s");
    expect(replicas(restarted)).toBe(4);
    await restarted.clock.advance("1m");

    expect(replicas(restarted)).toBe(1);
  });

  test("reverts another client's change of the size", async () => {
    await using cluster = await startWith({ seed, cpu: "50m" });
    await cluster.client(Deployment).scale({ name: "web" }, 9);
    await cluster.clock.advance("20s");
    expect(replicas(cluster)).toBe(6);
    expect(events(cluster)).toContain(
      "New size: 6; reason: Current number of replicas above Spec.MaxReplicas",
    );

    await cluster.client(Deployment).scale({ name: "web" }, 0);
    await cluster.clock.advance("20s");

    expect(replicas(cluster)).toBe(0);
    expect(conditions(cluster)).toContain("ScalingActive=False ScalingDisabled");
  });

  test("follows its policies and windows", async () => {
    const behavior = {
      scaleUp: {
        stabilizationWindowSeconds: 60,
        policies: [{ type: "Pods", value: 1, periodSeconds: 60 }],
      },
      scaleDown: {
        stabilizationWindowSeconds: 0,
        policies: [{ type: "Percent", value: 50, periodSeconds: 120 }],
      },
    };
    await using cluster = await startWith({ seed, cpu: "50m", spec: { behavior, maxReplicas: 4 } });

    await use(cluster, "150m");
    await cluster.clock.advance("50s");
    expect(replicas(cluster)).toBe(2);
    expect(conditions(cluster)[0]).toBe("AbleToScale=True ScaleUpStabilized");
    await cluster.clock.advance("30s");
    expect(replicas(cluster)).toBe(3);
    expect(conditions(cluster)).toContain("ScalingLimited=True ScaleUpLimit");
    await use(cluster, "150m");
    await cluster.clock.advance("65s");
    expect(replicas(cluster)).toBe(4);
    await use(cluster, "150m");
    await cluster.clock.advance("3m");

    await use(cluster, "1m");
    await cluster.clock.advance("20s");
    expect(replicas(cluster)).toBe(2);
    expect(conditions(cluster)).toContain("ScalingLimited=True ScaleDownLimit");
    await cluster.clock.advance("80s");
    expect(replicas(cluster)).toBe(2);
    await cluster.clock.advance("40s");
    expect(replicas(cluster)).toBe(1);
  });
});

describe("a HorizontalPodAutoscaler of a custom kind", () => {
  test("changes its size through the place that the definition names", async () => {
    const Farm = defineResource({
      group: "example.com",
      version: "v1",
      kind: "Farm",
      spec: t.object({ size: t.integer() }),
      status: t.object({ size: t.integer().optional(), selector: t.string().optional() }),
      scale: {
        specReplicasPath: ".spec.size",
        statusReplicasPath: ".status.size",
        labelSelectorPath: ".status.selector",
      },
    });
    await using cluster = await startCluster({
      clock: "virtual",
      seed: 1,
      loops: LOOPS,
      nodes: 1,
      kinds: [Farm],
    });
    await cluster.until(() => cluster.objects(Node).length === 1);
    const farm = await cluster.client(Farm).create({ metadata: { name: "web" }, spec: { size: 2 } });
    await cluster.client(Farm).updateStatus(farm, { size: 2, selector: "app=web" });
    for (const name of ["a", "b"]) {
      const { metadata, spec } = web({ cpu: "90m" }).spec?.template ?? {};
      await cluster.client(Pod).create({ metadata: { ...metadata, name }, spec: spec ?? {} });
    }
    await cluster.clock.advance("1m");

    // A version that is no longer served names the same kind.
    const scaleTargetRef = { apiVersion: "example.com/v1alpha1", kind: "Farm", name: "web" };
    await cluster.client(HorizontalPodAutoscaler).create(autoscaler({ spec: { scaleTargetRef } }));
    await cluster.settle();

    expect((await cluster.client(Farm).get({ name: "web" })).spec.size).toBe(4);
    expect(conditions(cluster)[0]).toBe("AbleToScale=True SucceededRescale");
  });
});

describe("a HorizontalPodAutoscaler that cannot work", () => {
  test("says that its target is not there, and begins when it is", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed: 1, loops: LOOPS, nodes: 1 });
    await cluster.until(() => cluster.objects(Node).length === 1);
    await cluster.client(HorizontalPodAutoscaler).create(autoscaler());
    await cluster.settle();
    expect(conditions(cluster)).toEqual(["AbleToScale=False FailedGetScale"]);
    expect(hpa(cluster).status.conditions?.[0]?.message).toBe(
      `the HPA controller was unable to get the target's current scale: deployments.apps "web" not found`,
    );

    await cluster.client(Deployment).create(web({ cpu: "50m" }));
    await cluster.clock.advance("2m");

    expect(conditions(cluster)[1]).toBe("ScalingActive=True ValidMetricFound");
  });

  test.each([
    [
      "pods that request nothing",
      { request: undefined },
      "FailedGetResourceMetric",
      /^the HPA was unable to compute the replica count: failed to get cpu utilization: missing request for cpu in container web of Pod web-/,
    ],
    [
      "a custom metric that nobody serves",
      { spec: { metrics: [podsMetric()] } },
      "FailedGetPodsMetric",
      /unable to get metric qps: unable to fetch metrics from custom metrics API: no custom metrics API \(custom.metrics.k8s.io\) registered$/,
    ],
    [
      "an external metric that nobody serves",
      { spec: { metrics: [externalMetric()] } },
      "FailedGetExternalMetric",
      /the server could not find the requested resource \(get queue.external.metrics.k8s.io\)$/,
    ],
  ] as const)("says so of %s", async (_, setup, reason, message) => {
    await using cluster = await startWith({ seed: 1, cpu: "50m", ...setup });

    expect(conditions(cluster)[1]).toBe(`ScalingActive=False ${reason}`);
    expect(hpa(cluster).status.conditions?.[1]?.message).toMatch(message);
    expect(reasons(cluster)).toEqual(expect.arrayContaining([reason, "FailedComputeMetricsReplicas"]));
    expect(replicas(cluster)).toBe(2);
  });

  test("reports metrics without a server", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed: 1, loops: LOOPS });
    await cluster.client(Deployment).create(web({ cpu: "50m" }));
    await cluster.client(HorizontalPodAutoscaler).create(autoscaler());
    await cluster.settle();

    expect(hpa(cluster).status.conditions?.[1]?.message).toBe(
      "the HPA was unable to compute the replica count: failed to get cpu utilization: unable to get metrics for resource cpu: " +
        "unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)",
    );
  });

  test("grows by the metric that is known, and does not shrink while one is unknown", async () => {
    const metrics = [cpuMetric(), podsMetric()];
    await using cluster = await startWith({ seed: 1, cpu: "50m", spec: { metrics } });
    await use(cluster, "100m");
    await cluster.clock.advance("20s");
    expect(replicas(cluster)).toBe(4);

    await use(cluster, "1m");
    await cluster.clock.advance("10m");

    expect(replicas(cluster)).toBe(4);
    expect(conditions(cluster)).toContain("ScalingActive=False FailedGetPodsMetric");
  });

  test.each([
    ["the same target", "web"],
    ["another target that selects the same pods", "twin"],
  ])("stands still beside another one of %s", async (_, target) => {
    await using cluster = await startWith({ seed: 1, cpu: "50m" });
    if (target === "twin") {
      const twin = web({ cpu: "50m", replicas: 1 });
      await cluster.client(Deployment).create({ ...twin, metadata: { name: target } });
    }
    const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: target };
    const other = autoscaler({ name: "other", spec: { scaleTargetRef } });
    await cluster.client(HorizontalPodAutoscaler).create(other);
    await cluster.settle();
    await use(cluster, "100m");
    await cluster.clock.advance("20s");

    expect(conditions(cluster)).toContain("ScalingActive=False AmbiguousSelector");
    expect(hpa(cluster).status.conditions?.[1]?.message).toBe(
      "pods by selector app=web are controlled by multiple HPAs: [default/other default/web]",
    );
    expect(replicas(cluster)).toBe(2);
    expect(Object.keys(hpa(cluster).metadata.annotations ?? {})).not.toContain(
      "autoscaler.setpoint.dev/selector",
    );

    await cluster.client(HorizontalPodAutoscaler).delete({ name: "other" });
    await cluster.clock.advance("20s");
    expect(conditions(cluster)).not.toContain("ScalingActive=False AmbiguousSelector");
  });

  test("is not stopped by another one whose target has the same name and kind in another group", async () => {
    await using cluster = await startWith({ seed: 1, cpu: "50m" });
    const scaleTargetRef = { apiVersion: "apps.example.com/v1", kind: "Deployment", name: "web" };
    const other = autoscaler({ name: "other", spec: { scaleTargetRef } });
    await cluster.client(HorizontalPodAutoscaler).create(other);
    await cluster.settle();
    await use(cluster, "100m");
    await cluster.clock.advance("20s");

    expect(conditions(cluster)).not.toContain("ScalingActive=False AmbiguousSelector");
    expect(replicas(cluster)).toBe(4);
  });

  test("begins its window anew when its history is spoilt", async () => {
    await using cluster = await startWith({ seed: 1, cpu: "50m", replicas: 4 });
    await use(cluster, "10m");
    await cluster.clock.advance("4m");
    const annotations = { "autoscaler.setpoint.dev/history": '{"recommended":"x"}' };
    const changes = { metadata: { annotations } };
    await cluster.client(HorizontalPodAutoscaler).patch({ name: "web" }, { type: "merge", changes });

    await cluster.clock.advance("4m");
    expect(replicas(cluster)).toBe(4);
    await cluster.clock.advance("2m");

    expect(replicas(cluster)).toBe(1);
  });
});

interface Setup {
  readonly seed: number;
  /** CPU usage of each pod. */
  readonly cpu: string;
  readonly replicas?: number;
  readonly request?: string | undefined;
  readonly spec?: Partial<HorizontalPodAutoscalerSpec>;
}

/** A Deployment whose pods have run long enough to be counted, and its autoscaler. */
async function startWith({ seed, spec, ...load }: Setup): Promise<Cluster> {
  const cluster = await startCluster({ clock: "virtual", seed, loops: LOOPS, nodes: 1 });
  await cluster.until(() => cluster.objects(Node).length === 1);
  await cluster.client(Deployment).create(web(load));
  await cluster.clock.advance("1m");
  await cluster.client(HorizontalPodAutoscaler).create(autoscaler(spec === undefined ? {} : { spec }));
  await cluster.settle();
  return cluster;
}

function web(load: Omit<Setup, "seed" | "spec">): Manifest<Deployment> {
  const request = "request" in load ? load.request : "100m";
  const resources = request === undefined ? {} : { requests: { cpu: request } };
  return {
    metadata: { name: "web" },
    spec: {
      replicas: load.replicas ?? 2,
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" }, annotations: { [CPU]: load.cpu } },
        spec: { nodeName: "node-1", containers: [{ name: "web", image: "web:1", resources }] },
      },
    },
  };
}

function autoscaler({
  name = "web",
  spec = {},
}: {
  readonly name?: string;
  readonly spec?: Partial<HorizontalPodAutoscalerSpec>;
} = {}): Manifest<HorizontalPodAutoscaler> {
  return {
    metadata: { name },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 1,
      maxReplicas: 6,
      metrics: [cpuMetric()],
      ...spec,
    },
  };
}

function cpuMetric() {
  const target = { type: "Utilization", averageUtilization: 50 };
  return { type: "Resource", resource: { name: "cpu", target } };
}

function podsMetric() {
  return {
    type: "Pods",
    pods: { metric: { name: "qps" }, target: { type: "AverageValue", averageValue: "10" } },
  };
}

function externalMetric() {
  return {
    type: "External",
    external: { metric: { name: "queue" }, target: { type: "Value", value: "10" } },
  };
}

/** Sets the usage of all existing pods; new ones use what their template says. */
async function use(cluster: Cluster, cpu: string): Promise<void> {
  const changes = { metadata: { annotations: { [CPU]: cpu } } };
  const pods = cluster.objects(Pod, "default").filter((pod) => isActive(pod) && isReady(pod));
  for (const { metadata } of pods)
    await cluster.client(Pod).patch({ name: metadata.name }, { type: "merge", changes });
}

function hpa(cluster: Cluster): HorizontalPodAutoscaler {
  const found = cluster.objects(HorizontalPodAutoscaler).find(({ metadata }) => metadata.name === "web");
  if (found === undefined) throw new Error("the autoscaler is gone");
  return found;
}

function replicas(cluster: Cluster): number | undefined {
  return cluster.objects(Deployment).find(({ metadata }) => metadata.name === "web")?.spec.replicas;
}

function conditions(cluster: Cluster): readonly string[] {
  return (hpa(cluster).status.conditions ?? []).map(
    ({ type, status, reason = "" }) => `${type}=${status} ${reason}`,
  );
}

function events(cluster: Cluster): readonly (string | undefined)[] {
  return cluster.objects(Event, "default").map(({ message }) => message);
}

function reasons(cluster: Cluster): readonly (string | undefined)[] {
  return cluster.objects(Event, "default").map(({ reason }) => reason);
}
