/** Finds errors of a pod's spec that prevent the creation of a container. Texts equal the kubelet's. */
import type { Container } from "../../api/generated/types/core-v1.ts";
import type { PodFacts } from "./pod-facts.ts";
import { findMountProblem } from "./sub-path.ts";

export function findConfigProblem(facts: PodFacts, container: Container): string | undefined {
  return findMountProblem(facts, container) ?? findRootProblem(facts, container);
}

/**
 * The container's security context takes precedence over the pod's. The user of the image is unknown here.
 */
function findRootProblem({ pod }: PodFacts, { name, securityContext }: Container): string | undefined {
  const { metadata, spec } = pod;
  const isForbidden = securityContext?.runAsNonRoot ?? spec.securityContext?.runAsNonRoot ?? false;
  const user = securityContext?.runAsUser ?? spec.securityContext?.runAsUser;
  if (!isForbidden || user !== 0) return undefined;
  const label = `${metadata.name}_${metadata.namespace ?? ""}(${metadata.uid})`;
  return `container's runAsUser breaks non-root policy (pod: ${JSON.stringify(label)}, container: ${name})`;
}
