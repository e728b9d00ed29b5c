import { describe, expect, test } from "vitest";
import { KindProbe, type Manifest } from "../rules/kind-probe.ts";
import { autoscalerFromV1, autoscalerToV1 } from "./autoscaler/v1-conversion.ts";
import { horizontalPodAutoscaler } from "./horizontal-pod-autoscaler.ts";

const probe = new KindProbe(horizontalPodAutoscaler);

const withSpec = (more: Manifest = {}): Manifest => ({
  spec: {
    maxReplicas: 5,
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    ...more,
  },
});
const cpu = (target: Manifest): Manifest => ({ type: "Resource", resource: { name: "cpu", target } });
const pods = {
  type: "Pods",
  pods: { metric: { name: "qps" }, target: { type: "AverageValue", averageValue: "100" } },
};

describe("a HorizontalPodAutoscaler", () => {
  test("targets cpu utilization by default", () => {
    expect(probe.created(withSpec())).toMatchObject({
      spec: { minReplicas: 1, metrics: [cpu({ type: "Utilization", averageUtilization: 80 })] },
    });
  });

  test("gets a complete behavior when a part of it is set", () => {
    expect(
      probe.created(withSpec({ behavior: { scaleDown: { stabilizationWindowSeconds: 60 } } })),
    ).toMatchObject({
      spec: {
        behavior: {
          scaleUp: {
            stabilizationWindowSeconds: 0,
            selectPolicy: "Max",
            policies: [
              { type: "Pods", value: 4, periodSeconds: 15 },
              { type: "Percent", value: 100, periodSeconds: 15 },
            ],
          },
          scaleDown: {
            stabilizationWindowSeconds: 60,
            selectPolicy: "Max",
            policies: [{ type: "Percent", value: 100, periodSeconds: 15 }],
          },
        },
      },
    });
  });

  test.each<[Manifest, readonly string[]]>([
    [{}, []],
    [{ minReplicas: 0 }, ["spec.minReplicas: Invalid value: 0: must be greater than or equal to 1"]],
    [
      { minReplicas: 6 },
      ["spec.maxReplicas: Invalid value: 5: must be greater than or equal to `minReplicas`"],
    ],
    [
      { maxReplicas: 0, minReplicas: undefined },
      [
        "spec.maxReplicas: Invalid value: 0: must be greater than 0",
        "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`",
      ],
    ],
    [
      { scaleTargetRef: { kind: "", name: "a/b" } },
      [
        "spec.scaleTargetRef.kind: Required value",
        "spec.scaleTargetRef.name: Invalid value: \"a/b\": may not contain '/'",
        'spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group',
      ],
    ],
    [
      { scaleTargetRef: { apiVersion: "v1", kind: "Deployment", name: "web" } },
      ['spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group'],
    ],
    [
      { scaleTargetRef: { apiVersion: "a/b/c", kind: "Deployment", name: "web" } },
      ['spec.scaleTargetRef.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
    ],
    [{ scaleTargetRef: { kind: "ReplicationController", name: "web" } }, []],
    [{ metrics: [pods] }, []],
    [
      { metrics: [{ type: "Pods" }] },
      ["spec.metrics[0].pods: Required value: must populate information for the given metric source"],
    ],
    [
      { metrics: [{ ...pods, ...cpu({}), type: "Pods" }] },
      ["spec.metrics[0].resource: Forbidden: must populate the given metric source only"],
    ],
    [
      { metrics: [cpu({ type: "Utilization" })] },
      [
        "spec.metrics[0].resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization",
      ],
    ],
    [
      { metrics: [cpu({ type: "Much", averageUtilization: 50 })] },
      [
        'spec.metrics[0].resource.target.type: Invalid value: "Much": must be either Utilization, Value, or AverageValue',
      ],
    ],
    [
      { metrics: [{ type: "Feeling" }] },
      [
        'spec.metrics[0].type: Unsupported value: "Feeling": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"',
      ],
    ],
    [
      { behavior: { scaleUp: { stabilizationWindowSeconds: 3601 } } },
      [
        "spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600",
      ],
    ],
    [
      { behavior: { scaleUp: { policies: [{ type: "Pods", value: 0, periodSeconds: 1801 }] } } },
      [
        "spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero",
        "spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800",
      ],
    ],
  ])("with %o", (spec, problems) => {
    expect(probe.problems(withSpec(spec))).toEqual(problems);
  });

  test("shows its current and target values", () => {
    const metrics = [cpu({ type: "Utilization", averageUtilization: 80 }), pods, pods];
    const currentMetrics = [
      { type: "Resource", resource: { name: "cpu", current: { averageUtilization: 20 } } },
    ];
    const status = { currentReplicas: 2, currentMetrics };

    expect(probe.cells({ ...withSpec({ metrics }), status })).toEqual([
      "it",
      "Deployment/web",
      "cpu: 20%/80%, <unknown>/100 + 1 more...",
      "1",
      5,
      2,
      "2m5s",
    ]);
  });
});

describe("version v1 of an autoscaler", () => {
  const full = probe.created({
    metadata: { annotations: { mine: "x" } },
    ...withSpec({
      metrics: [cpu({ type: "Utilization", averageUtilization: 60 }), pods],
      behavior: { scaleDown: { stabilizationWindowSeconds: 60 } },
    }),
    status: {
      currentReplicas: 2,
      desiredReplicas: 3,
      currentMetrics: [
        {
          type: "Resource",
          resource: { name: "cpu", current: { averageUtilization: 20, averageValue: "5m" } },
        },
      ],
      conditions: [{ type: "AbleToScale", status: "True", reason: "Ready" }],
    },
  });

  test("has cpu utilization as a field and the rest in annotations", () => {
    const converted = autoscalerToV1(full);

    expect(converted).toMatchObject({
      apiVersion: "autoscaling/v1",
      spec: { minReplicas: 1, maxReplicas: 5, targetCPUUtilizationPercentage: 60 },
      status: { currentReplicas: 2, desiredReplicas: 3, currentCPUUtilizationPercentage: 20 },
    });
    expect(converted["metadata"]).toMatchObject({
      annotations: {
        mine: "x",
        "autoscaling.alpha.kubernetes.io/metrics":
          '[{"type":"Pods","pods":{"metricName":"qps","targetAverageValue":"100"}}]',
        "autoscaling.alpha.kubernetes.io/conditions":
          '[{"reason":"Ready","status":"True","type":"AbleToScale"}]',
      },
    });
    expect(JSON.stringify(converted["metadata"])).toContain(
      '"autoscaling.alpha.kubernetes.io/behavior":"{\\"ScaleDown\\"',
    );
  });

  test("converts to v2 without loss", () => {
    const back = autoscalerFromV1(autoscalerToV1(full));

    expect(back["spec"]).toEqual(full["spec"]);
    expect(back["metadata"]).toEqual(full.metadata);
    expect(back["status"]).toEqual(full["status"]);
  });

  const selector = { matchLabels: { a: "b" } };
  const describedObject = { apiVersion: "v1", kind: "Service", name: "web" };
  const container = { name: "memory", container: "c" };
  test.each<[string, Manifest, Manifest]>([
    [
      "cpu by utilization",
      { resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } } },
      { resource: { name: "cpu", current: { averageUtilization: 20, averageValue: "5m" } } },
    ],
    [
      "cpu by value",
      { resource: { name: "cpu", target: { type: "AverageValue", averageValue: "500m" } } },
      { resource: { name: "cpu", current: { averageValue: "5m" } } },
    ],
    [
      "memory by utilization",
      { resource: { name: "memory", target: { type: "Utilization", averageUtilization: 60 } } },
      { resource: { name: "memory", current: { averageUtilization: 20, averageValue: "5Mi" } } },
    ],
    [
      "a container resource",
      { containerResource: { ...container, target: { type: "AverageValue", averageValue: "1Gi" } } },
      { containerResource: { ...container, current: { averageValue: "512Mi" } } },
    ],
    [
      "a pods metric",
      { pods: { metric: { name: "qps", selector }, target: { type: "AverageValue", averageValue: "100" } } },
      { pods: { metric: { name: "qps", selector }, current: { averageValue: "90" } } },
    ],
    [
      "an object metric by value",
      {
        object: {
          describedObject,
          metric: { name: "hits", selector },
          target: { type: "Value", value: "1k" },
        },
      },
      { object: { describedObject, metric: { name: "hits", selector }, current: { value: "900" } } },
    ],
    [
      "an object metric by average",
      {
        object: {
          describedObject,
          metric: { name: "hits" },
          target: { type: "AverageValue", averageValue: "10" },
        },
      },
      {
        object: { describedObject, metric: { name: "hits" }, current: { value: "20", averageValue: "9" } },
      },
    ],
    [
      "an external metric by value",
      { external: { metric: { name: "queue", selector }, target: { type: "Value", value: "30" } } },
      { external: { metric: { name: "queue", selector }, current: { value: "20" } } },
    ],
    [
      "an external metric by average",
      { external: { metric: { name: "queue" }, target: { type: "AverageValue", averageValue: "30" } } },
      { external: { metric: { name: "queue" }, current: { value: "20", averageValue: "5" } } },
    ],
  ])("loses nothing of %s", (_, source, current) => {
    const type = (Object.keys(source)[0] ?? "").replace(/^./, (first) => first.toUpperCase());
    const policies = [{ type: "Pods", value: 4, periodSeconds: 60 }];
    const it = probe.created({
      ...withSpec({
        metrics: [{ type, ...source }],
        behavior: {
          scaleUp: { stabilizationWindowSeconds: 0, selectPolicy: "Min", policies, tolerance: "50m" },
          scaleDown: { selectPolicy: "Disabled" },
        },
      }),
      status: {
        currentReplicas: 2,
        desiredReplicas: 3,
        currentMetrics: [{ type, ...current }],
        conditions: [
          {
            type: "AbleToScale",
            status: "True",
            lastTransitionTime: "2026-01-02T03:04:05Z",
            reason: "Ready",
            message: 'a "quoted" word',
          },
        ],
      },
    });

    const back = autoscalerFromV1(autoscalerToV1(it));

    expect(back["spec"]).toEqual(it["spec"]);
    expect(back["status"]).toEqual(it["status"]);
  });

  test("accepts only annotations of the conversion", () => {
    const annotations = { mine: "x", "autoscaling.alpha.kubernetes.io/conditions": "[]" };
    const stored = probe.created({ metadata: { annotations }, ...withSpec({}) });

    expect(stored.metadata.annotations).toEqual({ mine: "x" });
    expect(
      autoscalerToV1({ ...full, status: { currentMetrics: [] }, metadata: { annotations } })["metadata"],
    ).toEqual({
      annotations: {
        mine: "x",
        "autoscaling.alpha.kubernetes.io/behavior": expect.any(String) as string,
        "autoscaling.alpha.kubernetes.io/metrics": expect.any(String) as string,
      },
    });
  });

  test("with an annotation that is not JSON loses only its fields", () => {
    const broken = {
      apiVersion: "autoscaling/v1",
      metadata: { name: "it", annotations: { "autoscaling.alpha.kubernetes.io/metrics": "{" } },
      spec: { maxReplicas: 5, targetCPUUtilizationPercentage: 50 },
      status: {},
    };

    expect(autoscalerFromV1(broken)).toMatchObject({
      spec: { metrics: [cpu({ type: "Utilization", averageUtilization: 50 })] },
    });
  });
});
