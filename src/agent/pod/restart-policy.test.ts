import { describe, expect, test } from "vitest";
import type { Container, Pod } from "../../api/generated/types/core-v1.ts";
import { restarts, type ContainerRole } from "./restart-policy.ts";

describe("a container that ended", () => {
  test.each([
    ["Always", "main", 0, true],
    ["Always", "main", 1, true],
    ["OnFailure", "main", 0, false],
    ["OnFailure", "main", 1, true],
    ["Never", "main", 1, false],
    ["Always", "init", 0, false],
    ["Always", "init", 1, true],
    ["Never", "init", 1, false],
    ["Never", "sidecar", 0, true],
    ["Always", "ephemeral", 1, false],
  ] as const)("under %s, as %s, with code %s restarts: %s", (...row) => {
    const [restartPolicy, role, exitCode, expected] = row;

    expect(restarts(pod(restartPolicy), { role, container: web() }, exitCode)).toBe(expected);
  });

  test("follows its own policy and rules before the pod's policy", () => {
    const never = web({ restartPolicy: "Never" });
    const but42 = web({
      restartPolicy: "Never",
      restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "In", values: [42] } }],
    });
    const main = (container: Container): { role: ContainerRole; container: Container } => ({
      role: "main",
      container,
    });

    expect(restarts(pod("Always"), main(never), 1)).toBe(false);
    expect(restarts(pod("Always"), main(but42), 42)).toBe(true);
    expect(restarts(pod("Always"), main(but42), 43)).toBe(false);
  });
});

function web(more: Partial<Container> = {}): Container {
  return { name: "web", image: "web:1", resources: {}, ...more };
}

function pod(restartPolicy: "Always" | "OnFailure" | "Never"): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", uid: "1", resourceVersion: "1", creationTimestamp: "" },
    spec: { restartPolicy, containers: [web()] },
    status: {},
  };
}
