import { describe, expect, test } from "vitest";
import type { ValidatingAdmissionPolicy } from "../../../api/generated/types/admissionregistration-v1.ts";
import { incomplete } from "../../../api/object-fixture.ts";
import { kinds } from "../../../resources/index.ts";
import { Registry } from "../../objects/registry.ts";
import { typeWarnings } from "./type-check.ts";

const registry = new Registry(kinds);

function warned(expression: string, spec: object = {}): readonly string[] {
  const rule = {
    apiGroups: ["apps"],
    apiVersions: ["v1"],
    operations: ["*" as const],
    resources: ["deployments", "daemonsets", "deployments/status"],
  };
  const policy = incomplete<ValidatingAdmissionPolicy>({
    spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression }], ...spec },
  });
  return typeWarnings(policy, registry).map(({ warning }) => warning);
}

describe("types of expressions", () => {
  test.each([
    "object.spec.template.spec.containers.all(c, c.image.startsWith('a') && c.ports[0].containerPort > 80)",
    "object.metadata.labels['a'] == 'b' && object.metadata.namespace == 'c' && has(object.spec.minReadySeconds)",
    "timestamp(object.metadata.creationTimestamp) < timestamp('2026-01-01T00:00:00Z')",
    "quantity(object.spec.template.spec.containers[0].resources.limits['cpu']).isGreaterThan(quantity('1'))",
    "oldObject == null || oldObject.spec == object.spec",
    "object.spec.template.spec.containers[0].livenessProbe.httpGet.port == 80",
  ])("fit in %s", (expression) => {
    expect(warned(expression)).toEqual([]);
  });

  test("mismatch if a kind lacks the field, and the warning names that kind", () => {
    expect(warned("object.spec.replicas > 1")).toEqual([
      "apps/v1, Kind=DaemonSet: ERROR: <input>:1:12: undefined field 'replicas'\n | object.spec.replicas > 1\n | ...........^\n",
    ]);
  });

  test("mismatch if a number is compared with a string, also through a variable", () => {
    const variables = [{ name: "ready", expression: "object.spec.minReadySeconds" }];
    const [warning = ""] = warned("variables.ready == 'x'", { variables });

    expect(warning).toContain("found no matching overload for '_==_' applied to '(int, string)'");
    expect(warning.split("Kind=")).toHaveLength(3);
  });

  test("include the types of parameters", () => {
    const spec = { paramKind: { apiVersion: "v1", kind: "ConfigMap" } };

    expect(warned("params.data['x'] == 'y' && has(object.spec)", spec)).toEqual([]);
    expect(warned("params.spec == 1", spec)[0]).toContain("undefined field 'spec'");
  });
});
