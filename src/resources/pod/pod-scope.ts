/** Facts about the whole pod that the validation of its parts needs. */

import type { FieldErrors } from "../../api/errors/field-error.ts";
import type { PodSpec, Volume } from "../../api/generated/types/core-v1.ts";

export interface PodScope {
  readonly errors: FieldErrors;
  /** Keyed by name. Claim templates of a StatefulSet count as volumes. */
  readonly volumes: ReadonlyMap<string, Volume>;
  /** The names in `resourceClaims`. */
  readonly claimNames: ReadonlySet<string>;
  readonly spec: PodSpec;
  /** Rules for pods are stricter than for templates, which may never become pods. */
  readonly subject: "pod" | "template";
  /** Name of the pod; undefined for a template. */
  readonly podName: string | undefined;
}

/** Pods use the host's user namespace unless `hostUsers` is false. */
export function usesHostUsers({ hostUsers }: PodSpec): boolean {
  return hostUsers !== false;
}
