/** Validates the annotations of pods and templates that components of the cluster read. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import type { Pod, PodTemplateSpec } from "../../api/generated/types/core-v1.ts";
import { ownValue } from "../rules/value-rules.ts";
import { APP_ARMOR_PREFIX, checkAppArmorAnnotations } from "./app-armor.ts";
import { checkDescendingPath } from "./local-path.ts";

/** Marks a mirror pod: an agent runs the pod from a file and mirrors it in the API. */
const MIRROR = "kubernetes.io/config.mirror";
const DELETION_COST = "controller.kubernetes.io/pod-deletion-cost";
export const SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod";
/** Followed by the name of a container. */
export const SECCOMP_PREFIX = "container.seccomp.security.alpha.kubernetes.io/";
const SECCOMP_PROFILES = ["runtime/default", "docker/default", "unconfined"];
const SECCOMP_LOCAL = "localhost/";

type Annotated = Pick<Pod | PodTemplateSpec, "metadata" | "spec">;

export function checkPodAnnotations(it: Annotated, path: FieldPath, errors: FieldErrors): void {
  const { annotations } = it.metadata;
  if (annotations === undefined) return;
  const mirror = ownValue(annotations, MIRROR);
  if (mirror !== undefined && it.spec.nodeName === undefined) {
    errors.invalid(path.key(MIRROR), mirror, "must set spec.nodeName if mirror pod annotation is set");
  }
  const cost = ownValue(annotations, DELETION_COST);
  if (cost !== undefined && !isInt32(cost)) {
    errors.invalid(path.key(DELETION_COST), cost, "must be a 32bit integer");
  }
  for (const [key, profile] of Object.entries(annotations)) {
    if (key === SECCOMP_POD || key.startsWith(SECCOMP_PREFIX)) checkSeccomp(profile, path.child(key), errors);
  }
  checkAppArmorAnnotations(it, path, errors);
}

function checkSeccomp(profile: string, path: FieldPath, errors: FieldErrors): void {
  if (SECCOMP_PROFILES.includes(profile)) return;
  if (profile.startsWith(SECCOMP_LOCAL))
    checkDescendingPath(profile.slice(SECCOMP_LOCAL.length), path, errors);
  else errors.invalid(path, profile, "must be a valid seccomp profile");
}

/** The profiles and the mirror mark are immutable. */
export function checkAnnotationChanges(
  { metadata: { annotations: next } }: Pod,
  { metadata: { annotations: previous } }: Pod,
  { path, errors }: { readonly path: FieldPath; readonly errors: FieldErrors },
): void {
  if (next === previous) return;
  for (const key of new Set([...Object.keys(previous ?? {}), ...Object.keys(next ?? {})])) {
    const what = findFixed(key);
    const before = ownValue(previous, key);
    if (what === undefined || before === ownValue(next, key)) continue;
    errors.forbidden(path.key(key), `may not ${before === undefined ? "add" : "remove or update"} ${what}`);
  }
}

function findFixed(key: string): string | undefined {
  if (key.startsWith(APP_ARMOR_PREFIX)) return "AppArmor annotations";
  return key === MIRROR ? "mirror pod annotation" : undefined;
}

/** Upstream's form of an integer: no plus sign, and no leading zero. */
function isInt32(text: string): boolean {
  const value = Number(text);
  return /^(?:0|-\d+|[1-9]\d*)$/.test(text) && value >= -(2 ** 31) && value < 2 ** 31;
}
