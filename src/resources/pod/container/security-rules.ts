/** Validates security contexts of containers, and the profiles that pods share with them. */

import type { FieldErrors, FieldPath } from "../../../api/errors/field-error.ts";
import type {
  AppArmorProfile,
  SeccompProfile,
  SecurityContext,
  WindowsSecurityContextOptions,
} from "../../../api/generated/types/core-v1.ts";
import { dns1123Subdomain } from "../../../api/values/names.ts";
import { checkChoice, checkUserId } from "../../rules/value-rules.ts";
import { checkDescendingPath } from "../local-path.ts";
import { type PodScope, usesHostUsers } from "../pod-scope.ts";

const PROC_MOUNTS = ["Default", "Unmasked"];
const PROFILE_TYPES = ["Localhost", "RuntimeDefault", "Unconfined"];
/** Linux's PATH_MAX minus one, for the final zero byte. */
const PROFILE_PATH_MAX = 4095;

export function checkSecurityContext(context: SecurityContext, path: FieldPath, scope: PodScope): void {
  const { errors } = scope;
  checkUserId(context.runAsUser, path.child("runAsUser"), errors);
  checkUserId(context.runAsGroup, path.child("runAsGroup"), errors);
  const procMount = path.child("procMount");
  checkChoice({ path: procMount, value: context.procMount, among: PROC_MOUNTS }, errors);
  if (context.procMount === "Unmasked" && usesHostUsers(scope.spec)) {
    errors.invalid(procMount, context.procMount, "`hostUsers` must be false to use `Unmasked`");
  }
  checkSeccompProfile(context.seccompProfile, path.child("seccompProfile"), errors);
  checkEscalation(context, path, errors);
  checkWindowsOptions(context.windowsOptions, path.child("windowsOptions"), errors);
  checkAppArmorProfile(context.appArmorProfile, path.child("appArmorProfile"), errors);
}

/** A container with all privileges cannot forbid privilege escalation. */
function checkEscalation(context: SecurityContext, path: FieldPath, errors: FieldErrors): void {
  if (context.allowPrivilegeEscalation !== false) return;
  const without = "cannot set `allowPrivilegeEscalation` to false and";
  if (context.privileged === true) errors.invalid(path, context, `${without} \`privileged\` to true`);
  if (context.capabilities?.add?.includes("CAP_SYS_ADMIN") === true) {
    errors.invalid(path, context, `${without} \`capabilities.Add\` CAP_SYS_ADMIN`);
  }
}

export function checkSeccompProfile(
  profile: SeccompProfile | undefined,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (profile === undefined) return;
  const type: string = profile.type;
  if (type === "") errors.required(path.child("type"), "type is required when seccompProfile is set");
  else checkChoice({ path: path.child("type"), value: type, among: PROFILE_TYPES }, errors);
  const { localhostProfile } = profile;
  const at = path.child("localhostProfile");
  if (type === "Localhost") {
    if (localhostProfile === undefined) errors.required(at, "must be set when seccomp type is Localhost");
    else checkDescendingPath(localhostProfile, at, errors);
  } else if (localhostProfile !== undefined) {
    errors.invalid(at, profile, "can only be set when seccomp type is Localhost");
  }
}

export function checkAppArmorProfile(
  profile: AppArmorProfile | undefined,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (profile === undefined) return;
  const type: string = profile.type;
  const at = path.child("localhostProfile");
  if (type === "") {
    errors.required(path.child("type"), "type is required when appArmorProfile is set");
  } else if (type === "Localhost") {
    checkAppArmorPath(profile.localhostProfile ?? "", at, errors);
  } else {
    checkChoice({ path: path.child("type"), value: type, among: PROFILE_TYPES }, errors);
    if (profile.localhostProfile === undefined || !PROFILE_TYPES.includes(type)) return;
    errors.invalid(at, profile.localhostProfile, "can only be set when AppArmor type is Localhost");
  }
}

function checkAppArmorPath(profile: string, path: FieldPath, errors: FieldErrors): void {
  if (profile.trim() !== profile) errors.invalid(path, profile, "must not be padded with whitespace");
  else if (profile === "") errors.required(path, "must be set when AppArmor type is Localhost");
  if (profile.length > PROFILE_PATH_MAX) errors.tooLong(path, PROFILE_PATH_MAX);
}

/** A credential spec name is an object name. The user name must not be empty; Windows checks the rest. */
export function checkWindowsOptions(
  options: WindowsSecurityContextOptions | undefined,
  path: FieldPath,
  errors: FieldErrors,
): void {
  const { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName } = options ?? {};
  if (gmsaCredentialSpecName !== undefined) {
    errors.invalidFor(
      path.child("gmsaCredentialSpecName"),
      gmsaCredentialSpecName,
      dns1123Subdomain(gmsaCredentialSpecName),
    );
  }
  if (gmsaCredentialSpec === "") {
    errors.invalid(path.child("gmsaCredentialSpec"), "", "gmsaCredentialSpec cannot be an empty string");
  }
  if (runAsUserName === "")
    errors.invalid(path.child("runAsUserName"), "", "runAsUserName cannot be an empty string");
}
