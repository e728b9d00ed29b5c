/** AppArmor profiles in annotations, the form that predates the fields. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import type { AppArmorProfile, Container, Pod, PodTemplateSpec } from "../../api/generated/types/core-v1.ts";
import { quoted } from "../../api/values/message-text.ts";
import type { Draft } from "../rules/kind-rules.ts";
import { isSame, ownValue } from "../rules/value-rules.ts";

/** Followed by the name of a container. */
export const APP_ARMOR_PREFIX = "container.apparmor.security.beta.kubernetes.io/";
const LOCAL_PREFIX = "localhost/";
const LOCAL_NAME_MAX = 4095;

export const APP_ARMOR_ADVICE = 'deprecated since v1.30; use the "appArmorProfile" field instead';

/**
 * Copies annotations to the containers' fields, unless the container has a profile or the pod has the same
 * one. Returns warnings for annotations without an equal field.
 */
export function applyAppArmorAnnotations({ metadata, spec }: Draft<Pod>): readonly string[] {
  const { annotations } = metadata;
  if (annotations === undefined || spec.os?.name === "windows") return [];
  if (!Object.keys(annotations).some((key) => key.startsWith(APP_ARMOR_PREFIX))) return [];
  const warnings: string[] = [];
  const podProfile = spec.securityContext?.appArmorProfile;
  const confined = (container: Draft<Container>): Draft<Container> => {
    const { securityContext = {} } = container;
    const key = `${APP_ARMOR_PREFIX}${container.name}`;
    const told = ownValue(annotations, key);
    if (told === undefined || securityContext.appArmorProfile !== undefined) return container;
    const profile = findProfile(told);
    if (profile !== undefined && isSame(profile, podProfile)) return container;
    warnings.push(`metadata.annotations[${key}]: ${APP_ARMOR_ADVICE}`);
    if (profile === undefined) return container;
    return { ...container, securityContext: { ...securityContext, appArmorProfile: profile } };
  };
  if (spec.initContainers !== undefined) spec.initContainers = spec.initContainers.map(confined);
  spec.containers = spec.containers.map(confined);
  return warnings;
}

export function checkAppArmorAnnotations(
  { metadata: { annotations = {} }, spec }: Pick<Pod | PodTemplateSpec, "metadata" | "spec">,
  path: FieldPath,
  errors: FieldErrors,
): void {
  const told = Object.entries(annotations).filter(([key]) => key.startsWith(APP_ARMOR_PREFIX));
  if (told.length === 0) return;
  const { initContainers = [], ephemeralContainers = [] } = spec;
  const names = new Set(
    [...spec.containers, ...initContainers, ...ephemeralContainers].map((container) => container.name),
  );
  for (const [key, profile] of told) {
    const name = key.slice(APP_ARMOR_PREFIX.length);
    if (!names.has(name)) errors.invalid(path.key(key), name, "container not found");
    if (!isWellFormed(profile)) {
      errors.invalid(path.key(key), profile, `invalid AppArmor profile name: ${quoted(profile)}`);
    }
  }
}

function isWellFormed(text: string): boolean {
  return ["", "unconfined", "runtime/default"].includes(text) || text.startsWith(LOCAL_PREFIX);
}

function findProfile(text: string | undefined): Draft<AppArmorProfile> | undefined {
  if (text === "unconfined") return { type: "Unconfined" };
  if (text === "runtime/default") return { type: "RuntimeDefault" };
  if (text?.startsWith(LOCAL_PREFIX) !== true) return undefined;
  const localhostProfile = text.slice(LOCAL_PREFIX.length);
  const isGood = localhostProfile !== "" && localhostProfile.trim() === localhostProfile;
  return isGood && localhostProfile.length <= LOCAL_NAME_MAX
    ? { type: "Localhost", localhostProfile }
    : undefined;
}
