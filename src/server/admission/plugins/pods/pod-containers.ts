/** The containers of a pod, for rules that hold for each of them: whoever looks at some only leaves a door open. */
import type { Container, EphemeralContainer, PodSpec } from "../../../../api/generated/types/core-v1.ts";

export type AnyContainer = Container | EphemeralContainer;

/** All of them, in the order in which upstream names them: those that run first, those that stay, those that were added later. */
export function containersOf({
  initContainers = [],
  containers,
  ephemeralContainers = [],
}: Pick<PodSpec, "initContainers" | "containers" | "ephemeralContainers">): readonly AnyContainer[] {
  return [...initContainers, ...containers, ...ephemeralContainers];
}
