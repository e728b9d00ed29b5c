/** Accessors by which checks read a pod and all its containers. */
import type { PodSecurityContext, SecurityContext } from "../../../../../api/generated/types/core-v1.ts";
import type { AnyContainer } from "../pod-containers.ts";
import type { CheckPod, Inspected } from "./check.ts";

/** Root in a user namespace has no rights on the node, so the check is skipped. */
export function unlessOwnUsers(check: CheckPod): CheckPod {
  return (pod) => (pod.spec.hostUsers === false ? undefined : check(pod));
}

/** Names of the containers that match the predicate. */
export function badContainers(
  { containers }: Inspected,
  isBad: (context: SecurityContext | undefined, container: AnyContainer) => boolean,
): readonly string[] {
  return containers
    .filter((container) => isBad(container.securityContext, container))
    .map(({ name }) => name);
}

/** Values of one field in the security contexts of the pod and its containers, without unset ones. */
export function valuesOf<T>(
  { spec, containers }: Inspected,
  pick: (context: SecurityContext & PodSecurityContext) => T | undefined,
): readonly T[] {
  const contexts = [spec.securityContext, ...containers.map(({ securityContext }) => securityContext)];
  return contexts.flatMap((context) => (context === undefined ? [] : (pick(context) ?? [])) as readonly T[]);
}

/** Profile types that confine a container, for AppArmor and seccomp. */
export function isConfined(type: string): boolean {
  return type === "RuntimeDefault" || type === "Localhost";
}
