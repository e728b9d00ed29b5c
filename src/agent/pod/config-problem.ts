/** Why a container cannot be created of what its pod says, in kubelet's words. */
import type { Container } from "../../api/generated/types/core-v1.ts";
import type { PodFacts } from "./pod-facts.ts";
import { findMountProblem } from "./sub-path.ts";

export function findConfigProblem(facts: PodFacts, container: Container): string | undefined {
  return findMountProblem(facts, container) ?? findRootProblem(facts, container);
}

/** What the container says counts before what its pod says. The user of an image is not known here. */
function findRootProblem({ pod }: PodFacts, { name, securityContext }: Container): string | undefined {
  const { metadata, spec } = pod;
  const isForbidden = securityContext?.runAsNonRoot ?? spec.securityContext?.runAsNonRoot ?? false;
  const user = securityContext?.runAsUser ?? spec.securityContext?.runAsUser;
  if (!isForbidden || user !== 0) return undefined;
  const label = `${metadata.name}_${metadata.namespace ?? ""}(${metadata.uid})`;
  return `container's runAsUser breaks non-root policy (pod: ${JSON.stringify(label)}, container: ${name})`;
}
