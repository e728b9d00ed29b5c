import { describe, expect, test } from "vitest";
import type { Container, EnvVar, Pod } from "../../api/generated/types/core-v1.ts";
import type { PodFacts } from "./pod-facts.ts";
import { findMountProblem } from "./sub-path.ts";

describe("a mount with a path from the environment", () => {
  test.each<[string, string, readonly EnvVar[]]>([
    ["may lead into the volume", "$(DIR)/x", [{ name: "DIR", value: "logs" }]],
    ["may refer to fields", "$(NAME)", [{ name: "NAME", valueFrom: field("metadata.name") }]],
    [
      "may refer to variables that refer to others",
      "$(B)",
      [
        { name: "A", value: "a" },
        { name: "B", value: "$(A)-b" },
      ],
    ],
    ["may contain dollar signs", "$$(DIR)", []],
    ["is valid when a value is unknown", "$(KEY)", [{ name: "KEY", valueFrom: secret() }]],
    ["may refer to a Service", "$(WEB_SERVICE_HOST)", []],
  ])("%s", (_, subPathExpr, env) => {
    expect(findMountProblem(facts(), mounting(subPathExpr, env))).toBeUndefined();
  });

  test.each<[string, Container, string]>([
    [
      "leaves the volume",
      mounting("$(DIR)", [{ name: "DIR", value: ".." }]),
      "unable to provision SubPath `..`: must not contain '..'",
    ],
    [
      "is absolute",
      mounting("$(DIR)", [{ name: "DIR", value: "/tmp" }]),
      "error SubPath `/tmp` must not be an absolute path",
    ],
    [
      "begins with an absent field",
      mounting("$(NOTE)/x", [{ name: "NOTE", valueFrom: field("metadata.annotations['note']") }]),
      "error SubPath `/x` must not be an absolute path",
    ],
    ["refers to an absent variable", mounting("$(DIR)", []), 'missing value for "DIR"'],
  ])("is refused when it %s", (_, container, problem) => {
    expect(findMountProblem(facts(), container)).toBe(problem);
  });
});

function field(fieldPath: string): NonNullable<EnvVar["valueFrom"]> {
  return { fieldRef: { fieldPath } };
}

function secret(): NonNullable<EnvVar["valueFrom"]> {
  return { secretKeyRef: { name: "keys", key: "key" } };
}

function mounting(subPathExpr: string, env: readonly EnvVar[]): Container {
  const volumeMounts = [{ name: "data", mountPath: "/data", subPathExpr }];
  return { name: "web", image: "web:1", resources: {}, env, volumeMounts };
}

function facts(): PodFacts {
  const pod: Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", uid: "1", resourceVersion: "1", creationTimestamp: "" },
    spec: { containers: [] },
    status: {},
  };
  return {
    pod,
    records: new Map(),
    acceptedAt: 0,
    hostAddresses: ["172.18.0.2"],
    addresses: ["10.0.0.2"],
    rejection: undefined,
    sizeProblem: undefined,
    hold: undefined,
    probeOf: () => undefined,
    isMeasuring: false,
    memoryUsedBy: () => 0,
    hasOutsideEnvironment: () => false,
    checkEnvironment: () => ({ type: "fine" }),
  };
}
