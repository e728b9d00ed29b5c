import { describe, expect, test } from "vitest";
import { KindProbe } from "../rules/kind-probe.ts";
import type { Manifest } from "../rules/kind-probe.ts";
import { podGroup } from "./pod-group.ts";
import { workload } from "./workload.ts";

const groups = new KindProbe(podGroup);
const workloads = new KindProbe(workload);
const basic = { schedulingPolicy: { basic: {} } };

function group(more: Manifest): Manifest {
  return { spec: { ...basic, ...more } };
}

describe("a PodGroup", () => {
  test("is valid with only a policy", () => {
    expect(groups.problems(group({}))).toEqual([]);
    expect(groups.problems(group({ schedulingPolicy: { gang: { minCount: 2 } } }))).toEqual([]);
  });

  test.each<[Manifest, readonly string[]]>([
    [
      { schedulingPolicy: {} },
      ['spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`'],
    ],
    [
      { schedulingPolicy: { basic: {}, gang: { minCount: 1 } } },
      ['spec.schedulingPolicy: Invalid value: "{basic, gang}": must specify exactly one of: `basic`, `gang`'],
    ],
    [
      { schedulingPolicy: { gang: { minCount: 0 } } },
      ["spec.schedulingPolicy.gang.minCount: Required value"],
    ],
    [
      { schedulingPolicy: { gang: { minCount: -1 } } },
      ["spec.schedulingPolicy.gang.minCount: Invalid value: -1: must be greater than or equal to 1"],
    ],
    [
      { podGroupTemplateRef: {} },
      ['spec.podGroupTemplateRef: Invalid value: "": must specify one of: `workload`'],
    ],
    [
      { podGroupTemplateRef: { workload: { workloadName: "", podGroupTemplateName: "" } } },
      [
        "spec.podGroupTemplateRef.workload.workloadName: Required value",
        "spec.podGroupTemplateRef.workload.podGroupTemplateName: Required value",
      ],
    ],
    [
      { schedulingConstraints: { topology: [{ key: "a" }, { key: "b" }] } },
      ["spec.schedulingConstraints.topology: Too many: 2: must have at most 1 item"],
    ],
    [
      { schedulingConstraints: { topology: [{ key: "" }] } },
      ["spec.schedulingConstraints.topology[0].key: Required value"],
    ],
    [
      { resourceClaims: [{ name: "a" }] },
      [
        'spec.resourceClaims[0]: Invalid value: "": must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
      ],
    ],
    [
      { priority: 1_000_000_001 },
      ["spec.priority: Invalid value: 1000000001: must be less than or equal to 1000000000"],
    ],
    [
      { disruptionMode: "All" },
      ['spec.disruptionMode: Unsupported value: "All": supported values: "Pod", "PodGroup"'],
    ],
  ])("is refused: %j", (more, problems) => {
    expect(groups.problems(group(more))).toEqual(problems);
  });

  test("has an immutable spec", () => {
    expect(groups.updateProblems(group({ priority: 1 }), group({ priority: 2 }))).toEqual([
      "spec.priority: Invalid value: 1: field is immutable",
    ]);
    expect(groups.updateProblems(group({}), group({}))).toEqual([]);
  });
});

describe("a Workload", () => {
  const template = { name: "main", ...basic };

  test.each<[Manifest, readonly string[]]>([
    [{ podGroupTemplates: [template] }, []],
    [{ podGroupTemplates: [] }, ["spec.podGroupTemplates: Required value"]],
    [
      { podGroupTemplates: Array.from({ length: 9 }, (_, i) => ({ ...template, name: `t${String(i)}` })) },
      ["spec.podGroupTemplates: Too many: 9: must have at most 8 items"],
    ],
    [{ podGroupTemplates: [{ ...template, name: "" }] }, ["spec.podGroupTemplates[0].name: Required value"]],
    [
      { podGroupTemplates: [template], controllerRef: { apiGroup: "batch", kind: "", name: "a/b" } },
      [
        "spec.controllerRef.kind: Required value",
        "spec.controllerRef.name: Invalid value: \"a/b\": may not contain '/'",
      ],
    ],
  ])("is validated: %j", (spec, problems) => {
    expect(workloads.problems({ spec })).toEqual(problems);
  });

  test("has unique template names", () => {
    expect(workloads.problems({ spec: { podGroupTemplates: [template, template] } })).toEqual([
      expect.stringMatching(/^spec\.podGroupTemplates\[1\]: Duplicate value: /),
    ]);
  });

  test("has immutable templates", () => {
    const made = { spec: { podGroupTemplates: [template] } };
    const next = { spec: { ...made.spec, controllerRef: { kind: "Job", name: "x" } } };

    expect(workloads.updateProblems(next, made)).toEqual([
      expect.stringMatching(/^spec\.controllerRef: Invalid value: .*: field is immutable$/),
    ]);
  });
});
