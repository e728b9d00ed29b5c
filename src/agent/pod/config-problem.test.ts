import { expect, test } from "vitest";
import type { Container, Pod, PodSpec, SecurityContext } from "../../api/generated/types/core-v1.ts";
import { findConfigProblem } from "./config-problem.ts";
import type { PodFacts } from "./pod-facts.ts";

type Said = Pick<SecurityContext, "runAsNonRoot" | "runAsUser">;

function problem(ofPod: Said, ofContainer: Said): string | undefined {
  const metadata = { name: "web", namespace: "default", uid: "7" };
  const spec = { securityContext: ofPod } as PodSpec;
  const none: readonly string[] = [];
  const facts = { pod: { metadata, spec } as Pod, hostAddresses: none, addresses: none } as PodFacts;
  return findConfigProblem(facts, { name: "a", securityContext: ofContainer } as Container);
}

test.each<[string, Said, Said]>([
  ["by its own context", {}, { runAsNonRoot: true, runAsUser: 0 }],
  ["by its pod's context", { runAsNonRoot: true, runAsUser: 0 }, {}],
  ["by both contexts together", { runAsNonRoot: true, runAsUser: 1 }, { runAsUser: 0 }],
])("a container that must not run as root is refused as root: %s", (_, ofPod, ofContainer) => {
  expect(problem(ofPod, ofContainer)).toBe(
    `container's runAsUser breaks non-root policy (pod: "web_default(7)", container: a)`,
  );
});

test.each<[string, Said, Said]>([
  ["no context forbids root", {}, { runAsUser: 0 }],
  ["its own context overrides its pod's", { runAsNonRoot: true }, { runAsNonRoot: false, runAsUser: 0 }],
  ["its own context names another user", { runAsNonRoot: true, runAsUser: 0 }, { runAsUser: 1 }],
  ["no context names a user", { runAsNonRoot: true }, {}],
])("a container is created when %s", (_, ofPod, ofContainer) => {
  expect(problem(ofPod, ofContainer)).toBeUndefined();
});
