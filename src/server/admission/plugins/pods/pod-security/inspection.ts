/** How checks look at a pod and at all of its containers. */
import type { PodSecurityContext, SecurityContext } from "../../../../../api/generated/types/core-v1.ts";
import type { AnyContainer } from "../pod-containers.ts";
import type { CheckPod, Inspected } from "./check.ts";

/** Root within users of its own is nobody on the node. */
export function unlessOwnUsers(check: CheckPod): CheckPod {
  return (pod) => (pod.spec.hostUsers === false ? undefined : check(pod));
}

/** The names of those containers that a test of their security context finds. */
export function badContainers(
  { containers }: Inspected,
  isBad: (context: SecurityContext | undefined, container: AnyContainer) => boolean,
): readonly string[] {
  return containers
    .filter((container) => isBad(container.securityContext, container))
    .map(({ name }) => name);
}

/** What the pod itself and its containers say of one thing, without those who say nothing. */
export function valuesOf<T>(
  { spec, containers }: Inspected,
  pick: (context: SecurityContext & PodSecurityContext) => T | undefined,
): readonly T[] {
  const contexts = [spec.securityContext, ...containers.map(({ securityContext }) => securityContext)];
  return contexts.flatMap((context) => (context === undefined ? [] : (pick(context) ?? [])) as readonly T[]);
}

/** Of AppArmor and seccomp alike. */
export function isConfined(type: string): boolean {
  return type === "RuntimeDefault" || type === "Localhost";
}
