/** What the rules of a pod's parts need to know of the whole. */

import type { FieldErrors } from "../../api/errors/field-error.ts";
import type { PodSpec, Volume } from "../../api/generated/types/core-v1.ts";

export interface PodScope {
  readonly errors: FieldErrors;
  /** By name. A stateful set's claim templates count as volumes. */
  readonly volumes: ReadonlyMap<string, Volume>;
  /** The names in `resourceClaims`. */
  readonly claimNames: ReadonlySet<string>;
  readonly spec: PodSpec;
  /** A pod is checked more strictly than a template, from which a pod may never be made. */
  readonly subject: "pod" | "template";
  /** The name of the pod, where there is one. */
  readonly podName: string | undefined;
}

/** Pods share the users of their node unless they say otherwise. */
export function usesHostUsers({ hostUsers }: PodSpec): boolean {
  return hostUsers !== false;
}
