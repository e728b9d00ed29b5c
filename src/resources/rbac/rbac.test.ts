import { describe, expect, test } from "vitest";
import { KindProbe } from "../rules/kind-probe.ts";
import { clusterRoleBinding } from "./cluster-role-binding.ts";
import { clusterRole } from "./cluster-role.ts";
import { roleBinding } from "./role-binding.ts";
import { role } from "./role.ts";

const GROUP = "rbac.authorization.k8s.io";
const onRole = new KindProbe(role);
const onClusterRole = new KindProbe(clusterRole);
const onBinding = new KindProbe(roleBinding);
const onClusterBinding = new KindProbe(clusterRoleBinding);

const view = { kind: "ClusterRole", name: "view" };

describe("a rule of a role", () => {
  test.each([
    [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }, []],
    [
      {},
      [
        "rules[0].verbs: Required value: verbs must contain at least one value",
        "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
        "rules[0].resources: Required value: resource rules must supply at least one resource",
      ],
    ],
    [
      { verbs: ["get"], nonResourceURLs: ["/healthz"] },
      [
        'rules[0].nonResourceURLs: Invalid value: ["/healthz"]: namespaced rules cannot apply to non-resource URLs',
      ],
    ],
  ])("has valid verbs and resources: %#", (rule, problems) => {
    expect(onRole.problems({ rules: [rule] })).toEqual(problems);
  });

  test.each([onRole, onClusterRole])(
    "has at most 10,000 entries in a list, unless it was stored with more: %#",
    (on) => {
      const rule = (count: number): object => ({
        verbs: ["get"],
        apiGroups: [""],
        resources: Array.from({ length: count }, (_, at) => `r${String(at)}`),
      });
      const problem = "rules[0].resources: Too many: 10001: must have at most 10000 items";
      const long = { rules: [rule(10_001)] };

      expect(on.problems({ rules: [rule(10_000)] })).toEqual([]);
      expect(on.problems(long)).toEqual([problem]);
      expect(on.updateProblems(long, { rules: [rule(1)] })).toEqual([problem]);
      expect(on.updateProblems(long, long)).toEqual([]);
    },
  );

  test("of the cluster may be about URLs, but not about both", () => {
    const rule = { verbs: ["get"], nonResourceURLs: ["/healthz"] };

    expect(onClusterRole.problems({ rules: [rule] })).toEqual([]);
    expect(onClusterRole.problems({ rules: [{ ...rule, resources: ["pods"] }] })).toEqual([
      'rules[0].nonResourceURLs: Invalid value: ["/healthz"]: rules cannot apply to both regular resources and non-resource URLs',
    ]);
  });

  test("of a ClusterRole may come from other roles by a label selector", () => {
    expect(onClusterRole.problems({ aggregationRule: { clusterRoleSelectors: [{}] } })).toEqual([]);
    expect(onClusterRole.problems({ aggregationRule: {} })).toEqual([
      "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil",
    ]);
  });
});

describe("a binding", () => {
  test("gets the API group of roles and users by default", () => {
    expect(
      onBinding.created({
        roleRef: view,
        subjects: [
          { kind: "User", name: "a" },
          { kind: "ServiceAccount", name: "b" },
        ],
      }),
    ).toMatchObject({
      roleRef: { apiGroup: GROUP },
      subjects: [{ apiGroup: GROUP }, { kind: "ServiceAccount", name: "b" }],
    });
  });

  test.each([
    [
      { kind: "Node", name: "a" },
      ['roleRef.kind: Unsupported value: "Node": supported values: "Role", "ClusterRole"'],
    ],
    [{ kind: "Role", name: "" }, ["roleRef.name: Required value"]],
    [{ kind: "Role", name: "a/b" }, [`roleRef.name: Invalid value: "a/b": may not contain '/'`]],
    [
      { kind: "Role", name: "a", apiGroup: "x" },
      [`roleRef.apiGroup: Unsupported value: "x": supported values: "${GROUP}"`],
    ],
    [{ kind: "Role", name: "System:Odd name" }, []],
  ])("refers to a valid role: %#", (roleRef, problems) => {
    expect(onBinding.problems({ roleRef })).toEqual(problems);
  });

  test.each([
    [{ kind: "User", name: "a" }, []],
    [{ kind: "User" }, ["subjects[0].name: Required value"]],
    [
      { kind: "Robot", name: "a" },
      ['subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"'],
    ],
    [{ kind: "ServiceAccount", name: "a" }, ["subjects[0].namespace: Required value"]],
    [
      { kind: "ServiceAccount", name: "a", namespace: "b", apiGroup: GROUP },
      [`subjects[0].apiGroup: Unsupported value: "${GROUP}": supported values: ""`],
    ],
  ])("has valid subjects: %#", (subject, problems) => {
    expect(onClusterBinding.problems({ roleRef: view, subjects: [subject] })).toEqual(problems);
  });

  test("keeps its role", () => {
    expect(onBinding.updateProblems({ roleRef: { ...view, name: "edit" } }, { roleRef: view })).toEqual([
      `roleRef: Invalid value: {"APIGroup":"${GROUP}","Kind":"ClusterRole","Name":"edit"}: cannot change roleRef`,
    ]);
    expect(
      onBinding.updateProblems({ roleRef: view, subjects: [{ kind: "User", name: "a" }] }, { roleRef: view }),
    ).toEqual([]);
  });

  test("shows its role and subjects", () => {
    const subjects = [
      { kind: "User", name: "a" },
      { kind: "User", name: "b" },
      { kind: "ServiceAccount", namespace: "n", name: "c" },
    ];

    expect(onBinding.cells({ roleRef: view, subjects })).toEqual([
      "it",
      "ClusterRole/view",
      "2m5s",
      "a, b",
      "",
      "n/c",
    ]);
  });

  test("may have any name that is a valid path segment", () => {
    expect(onBinding.nameProblems("system:Node%")).toEqual(["may not contain '%'"]);
    expect(onRole.nameProblems("system:node")).toEqual([]);
  });
});
