import { describe, expect, test } from "vitest";
import type { RuleWithOperations } from "../../../api/generated/types/admissionregistration-v1.ts";
import { ruleMatches } from "./rule-match.ts";
import type { MatchAttributes } from "./rule-match.ts";

const ANY: RuleWithOperations = {
  operations: ["*"],
  apiGroups: ["*"],
  apiVersions: ["*"],
  resources: ["*/*"],
  scope: "*",
};
const POD: MatchAttributes = {
  operation: "CREATE",
  group: "",
  version: "v1",
  resource: "pods",
  subresource: "",
  namespaced: true,
};
const NODE: MatchAttributes = { ...POD, resource: "nodes", namespaced: false };
const EXEC: MatchAttributes = { ...POD, operation: "CONNECT", subresource: "exec" };
const SCALE: MatchAttributes = {
  ...POD,
  operation: "UPDATE",
  group: "apps",
  resource: "deployments",
  subresource: "scale",
};

interface Case {
  readonly asked: MatchAttributes;
  readonly expected: boolean;
}

describe("a rule", () => {
  test.each<[string, Partial<RuleWithOperations>, Case]>([
    ["names everything with stars", {}, { asked: EXEC, expected: true }],
    ["without resources names nothing", { resources: [] }, { asked: POD, expected: false }],
    ["names its operation", { operations: ["CREATE"] }, { asked: POD, expected: true }],
    ["names no other operation", { operations: ["UPDATE", "DELETE"] }, { asked: POD, expected: false }],
    ["names its group", { apiGroups: ["apps"] }, { asked: SCALE, expected: true }],
    ["names no other group", { apiGroups: ["apps"] }, { asked: POD, expected: false }],
    ["names its version", { apiVersions: ["v1beta1", "v1"] }, { asked: POD, expected: true }],
    ["names no other version", { apiVersions: ["v1beta1"] }, { asked: POD, expected: false }],
    ["names a resource without its subresources", { resources: ["pods"] }, { asked: EXEC, expected: false }],
    ["names a resource itself", { resources: ["pods"] }, { asked: POD, expected: true }],
    ["names one subresource", { resources: ["pods/exec"] }, { asked: EXEC, expected: true }],
    [
      "names one subresource and not the object",
      { resources: ["pods/exec"] },
      { asked: POD, expected: false },
    ],
    [
      "names all subresources of a resource, and the object",
      { resources: ["pods/*"] },
      { asked: EXEC, expected: true },
    ],
    ["names the object with pods/*", { resources: ["pods/*"] }, { asked: POD, expected: true }],
    ["names no other resource with pods/*", { resources: ["pods/*"] }, { asked: NODE, expected: false }],
    ["names all resources with a star", { resources: ["*"] }, { asked: NODE, expected: true }],
    ["names no subresource with a star", { resources: ["*"] }, { asked: EXEC, expected: false }],
    ["names one subresource of all", { resources: ["*/scale"] }, { asked: SCALE, expected: true }],
    ["names no other subresource of all", { resources: ["*/scale"] }, { asked: EXEC, expected: false }],
    ["for namespaces names what is in one", { scope: "Namespaced" }, { asked: POD, expected: true }],
    ["for namespaces names nothing outside", { scope: "Namespaced" }, { asked: NODE, expected: false }],
    ["for the cluster names what is in none", { scope: "Cluster" }, { asked: NODE, expected: true }],
    ["for the cluster names nothing inside one", { scope: "Cluster" }, { asked: POD, expected: false }],
  ])("%s", (_, rule, { asked, expected }) => {
    expect(ruleMatches({ ...ANY, ...rule }, asked)).toBe(expected);
  });
});
