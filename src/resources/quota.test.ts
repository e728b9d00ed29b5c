import { describe, expect, test } from "vitest";
import { limitRange } from "./core/limit-range.ts";
import { priorityClass } from "./core/priority-class.ts";
import { resourceQuota } from "./core/resource-quota.ts";
import { KindProbe } from "./rules/kind-probe.ts";

describe("a PriorityClass", () => {
  const probe = new KindProbe(priorityClass);

  test("preempts by default", () => {
    expect(probe.created({ value: 1 })).toMatchObject({ preemptionPolicy: "PreemptLowerPriority" });
  });

  test.each([
    [{ value: 1_000_000_000 }, []],
    [
      { value: 1_000_000_001 },
      ["value: Forbidden: maximum allowed value of a user defined priority is 1000000000"],
    ],
    [{ metadata: { name: "system-node-critical" }, value: 2_000_001_000 }, []],
    [
      { metadata: { name: "system-x" }, value: 1 },
      [
        "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-x is not a known system priority class",
      ],
    ],
    [
      { preemptionPolicy: "Always" },
      ['preemptionPolicy: Unsupported value: "Always": supported values: "PreemptLowerPriority", "Never"'],
    ],
  ])("of a user has a lower value than the system's: %#", (manifest, problems) => {
    expect(probe.problems(manifest)).toEqual(problems);
  });

  test("keeps its value and policy", () => {
    expect(probe.updateProblems({ value: 2, preemptionPolicy: "Never" }, { value: 1 })).toEqual([
      "value: Forbidden: may not be changed in an update.",
      'preemptionPolicy: Invalid value: "Never": field is immutable',
    ]);
    expect(probe.updateProblems({ value: 1, description: "x" }, { value: 1 })).toEqual([]);
  });

  test("shows its value", () => {
    expect(probe.cells({ value: 7, globalDefault: true })).toEqual([
      "it",
      7,
      true,
      "2m5s",
      "PreemptLowerPriority",
    ]);
  });
});

describe("a ResourceQuota", () => {
  const probe = new KindProbe(resourceQuota);

  test.each([
    [
      {
        hard: {
          "requests.cpu": "1",
          pods: "3",
          "count/widgets.example.com": "2",
          "requests.nvidia.com/gpu": "1",
        },
      },
      [],
    ],
    [{ hard: { pods: "-1" } }, ['spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0']],
    [{ hard: { pods: "500m" } }, ['spec.hard[pods]: Invalid value: "500m": must be an integer']],
    [
      { hard: { widgets: "1" } },
      [
        'spec.hard[widgets]: Invalid value: "widgets": must be a standard resource type or fully qualified',
        'spec.hard[widgets]: Invalid value: "widgets": must be a standard resource for quota',
      ],
    ],
    [{ hard: { pods: "1" }, scopes: ["BestEffort"] }, []],
    [
      { hard: { cpu: "1" }, scopes: ["BestEffort"] },
      ['spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource'],
    ],
    [{ hard: { "requests.cpu": "1", "limits.memory": "1Gi" }, scopes: ["NotBestEffort"] }, []],
    [
      { hard: { "requests.ephemeral-storage": "1Gi" }, scopes: ["NotBestEffort"] },
      ['spec.scopes: Invalid value: ["NotBestEffort"]: unsupported scope applied to resource'],
    ],
    [
      { hard: { "hugepages-2Mi": "1Gi" }, scopes: ["Terminating"] },
      ['spec.scopes: Invalid value: ["Terminating"]: unsupported scope applied to resource'],
    ],
    [
      { scopes: ["BestEffort", "NotBestEffort"] },
      ['spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes'],
    ],
    [{ scopes: ["Odd"] }, ['spec.scopes: Invalid value: ["Odd"]: unsupported scope']],
    [
      { scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "In" }] } },
      [
        "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
      ],
    ],
    [
      {
        scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "In", values: ["a"] }] },
      },
      [],
    ],
  ])("has valid resources and scopes: %#", (spec, problems) => {
    expect(probe.problems({ spec })).toEqual(problems);
  });

  test("keeps its scopes, in any order", () => {
    const spec = { scopes: ["Terminating", "NotBestEffort"] };

    expect(probe.updateProblems({ spec: { scopes: ["NotBestEffort", "Terminating"] } }, { spec })).toEqual(
      [],
    );
    expect(probe.updateProblems({}, { spec })).toEqual([
      "spec.scopes: Invalid value: null: field is immutable",
    ]);
  });

  test("shows requests and limits in separate columns", () => {
    const status = {
      hard: { "requests.cpu": "2", pods: "3", "limits.cpu": "4" },
      used: { "requests.cpu": "1", "limits.cpu": "500m" },
    };

    expect(probe.cells({ status })).toEqual([
      "it",
      "pods: 0/3, requests.cpu: 1/2",
      "limits.cpu: 500m/4",
      "2m5s",
    ]);
  });
});

describe("a LimitRange", () => {
  const probe = new KindProbe(limitRange);

  test("of containers derives defaults from its bounds", () => {
    const limits = [
      { type: "Container", max: { cpu: "2" }, min: { cpu: "1", memory: "1Gi" }, default: { foo: "1" } },
    ];

    expect(probe.created({ spec: { limits } })).toMatchObject({
      spec: {
        limits: [{ default: { cpu: "2", foo: "1" }, defaultRequest: { cpu: "2", foo: "1", memory: "1Gi" } }],
      },
    });
  });

  test.each([
    [{ type: "Container", min: { cpu: "100m" }, max: { cpu: "2" } }, []],
    [
      { type: "Pod", min: { cpu: "3" }, max: { cpu: "2" } },
      ['spec.limits[0].min[cpu]: Invalid value: "3": min value 3 is greater than max value 2'],
    ],
    [
      { type: "Container", defaultRequest: { cpu: "2" }, default: { cpu: "1" } },
      [
        'spec.limits[0].defaultRequest[cpu]: Invalid value: "2": default request value 2 is greater than default limit value 1',
      ],
    ],
    [
      { type: "Pod", default: { cpu: "1" } },
      ["spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'"],
    ],
    [
      { type: "PersistentVolumeClaim" },
      [
        "spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided",
      ],
    ],
    [{ type: "PersistentVolumeClaim", max: { storage: "1Gi" } }, []],
    [
      { type: "Odd" },
      ['spec.limits[0].type: Invalid value: "Odd": must be a standard limit type or fully qualified'],
    ],
    [
      { type: "Pod", maxLimitRequestRatio: { cpu: "500m" } },
      ['spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1'],
    ],
    [
      { type: "Pod", min: { cpu: "1" }, max: { cpu: "2" }, maxLimitRequestRatio: { cpu: "3" } },
      [
        'spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000',
      ],
    ],
  ])("has bounds in order: %#", (item, problems) => {
    expect(probe.problems({ spec: { limits: [item] } })).toEqual(problems);
  });

  test("has each type once", () => {
    const item = { type: "Pod" };

    expect(probe.problems({ spec: { limits: [item, item] } })).toEqual([
      'spec.limits[1].type: Duplicate value: "Pod"',
    ]);
  });
});
