/** Lists all containers of a pod, for rules on every container. A rule that skips one type can be bypassed. */
import type { Container, EphemeralContainer, PodSpec } from "../../../../api/generated/types/core-v1.ts";

export type AnyContainer = Container | EphemeralContainer;

/** All containers in upstream's order: init, regular, ephemeral. */
export function containersOf({
  initContainers = [],
  containers,
  ephemeralContainers = [],
}: Pick<PodSpec, "initContainers" | "containers" | "ephemeralContainers">): readonly AnyContainer[] {
  return [...initContainers, ...containers, ...ephemeralContainers];
}
