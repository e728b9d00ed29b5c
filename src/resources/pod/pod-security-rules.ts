/** Validates the security context of a pod, and the fields that depend on its operating system. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import type { PodSecurityContext, PodSpec, Sysctl } from "../../api/generated/types/core-v1.ts";
import { addNew, checkChoice, checkRequiredChoice, checkUserId } from "../rules/value-rules.ts";
import { containersOf } from "./container/containers-of.ts";
import {
  checkAppArmorProfile,
  checkSeccompProfile,
  checkWindowsOptions,
} from "./container/security-rules.ts";

const SYSCTL_SEGMENT = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
const SYSCTL = `^(${SYSCTL_SEGMENT}[\\./])*${SYSCTL_SEGMENT}$`;
const SYSCTL_MAX = 253;
const SYSCTL_PATTERN = new RegExp(SYSCTL);

/** Fields for Linux only; Windows ignores them. */
const LINUX_OF_POD = [
  "appArmorProfile",
  "seLinuxOptions",
  "seccompProfile",
  "fsGroup",
  "fsGroupChangePolicy",
  "sysctls",
  "runAsUser",
  "runAsGroup",
  "supplementalGroups",
  "supplementalGroupsPolicy",
  "seLinuxChangePolicy",
] as const;
const LINUX_OF_SPEC = ["hostUsers", "hostPID", "hostIPC", "shareProcessNamespace"] as const;
const LINUX_OF_CONTAINER = [
  "appArmorProfile",
  "seLinuxOptions",
  "seccompProfile",
  "capabilities",
  "readOnlyRootFilesystem",
  "privileged",
  "allowPrivilegeEscalation",
  "procMount",
  "runAsUser",
  "runAsGroup",
] as const;

export function checkPodSecurity(spec: PodSpec, path: FieldPath, errors: FieldErrors): void {
  const { securityContext } = spec;
  if (securityContext !== undefined) {
    checkContext(securityContext, path.child("securityContext"), errors);
    if (spec.shareProcessNamespace === true && spec.hostPID === true) {
      const at = path.child("securityContext", "shareProcessNamespace");
      errors.invalid(at, true, "ShareProcessNamespace and HostPID cannot both be enabled");
    }
  }
  checkHostUsers(spec, path, errors);
  if (spec.os !== undefined) checkOs(spec, path, errors);
}

function checkContext(context: PodSecurityContext, path: FieldPath, errors: FieldErrors): void {
  for (const field of ["fsGroup", "runAsUser", "runAsGroup"] as const) {
    checkUserId(context[field], path.child(field), errors);
  }
  for (const [i, group] of (context.supplementalGroups ?? []).entries()) {
    checkUserId(group, path.child("supplementalGroups").index(i), errors);
  }
  checkSysctls(context.sysctls ?? [], path.child("sysctls"), errors);
  const choices = {
    fsGroupChangePolicy: ["Always", "OnRootMismatch"],
    supplementalGroupsPolicy: ["Merge", "Strict"],
    seLinuxChangePolicy: ["MountOption", "Recursive"],
  } as const;
  for (const field of ["fsGroupChangePolicy", "supplementalGroupsPolicy", "seLinuxChangePolicy"] as const) {
    checkChoice({ path: path.child(field), value: context[field], among: choices[field] }, errors);
  }
  checkSeccompProfile(context.seccompProfile, path.child("seccompProfile"), errors);
  checkWindowsOptions(context.windowsOptions, path.child("windowsOptions"), errors);
  checkAppArmorProfile(context.appArmorProfile, path.child("appArmorProfile"), errors);
}

function checkSysctls(sysctls: readonly Sysctl[], path: FieldPath, errors: FieldErrors): void {
  const names = new Set<string>();
  for (const [i, { name }] of sysctls.entries()) {
    const at = path.index(i).child("name");
    if (name === "") errors.required(at);
    else if (name.length > SYSCTL_MAX || !SYSCTL_PATTERN.test(name)) {
      errors.invalid(at, name, `must have at most ${SYSCTL_MAX} characters and match regex ${SYSCTL}`);
    } else if (!addNew(names, name)) errors.duplicate(at, name);
  }
}

/** A pod with its own user namespace cannot share the host's other namespaces. */
function checkHostUsers(spec: PodSpec, path: FieldPath, errors: FieldErrors): void {
  if (spec.hostUsers !== false) return;
  const problem = "when `hostUsers` is false";
  if (spec.hostNetwork === true) errors.forbidden(path.child("hostNetwork"), problem);
  // Upstream's paths for these two begin with a capital letter.
  if (spec.hostPID === true) errors.forbidden(path.child("HostPID"), problem);
  if (spec.hostIPC === true) errors.forbidden(path.child("HostIPC"), problem);
  // Block devices do not support user namespaces.
  for (const { container, at } of containersOf(spec, path)) {
    if ((container.volumeDevices ?? []).length > 0) errors.forbidden(at.child("volumeDevices"), problem);
  }
}

function checkOs(spec: PodSpec, path: FieldPath, errors: FieldErrors): void {
  const os = spec.os?.name ?? "";
  const at = path.child("os", "name");
  checkRequiredChoice({ path: at, value: os, among: ["linux", "windows"] }, errors);
  if (os === "linux") checkLinux(spec, path, errors);
  if (os === "windows") checkWindows(spec, path, errors);
}

function checkLinux(spec: PodSpec, path: FieldPath, errors: FieldErrors): void {
  const parts = [{ container: spec, at: path }, ...containersOf(spec, path)];
  for (const { container, at } of parts) {
    if (container.securityContext?.windowsOptions === undefined) continue;
    const field = at.child("securityContext", "windowsOptions");
    errors.forbidden(field, "windows options cannot be set for a linux pod");
  }
}

function checkWindows(spec: PodSpec, path: FieldPath, errors: FieldErrors): void {
  const problem = "cannot be set for a windows pod";
  for (const field of LINUX_OF_POD) {
    if (spec.securityContext?.[field] === undefined) continue;
    errors.forbidden(path.child("securityContext", field), problem);
  }
  for (const field of LINUX_OF_SPEC) {
    if (spec[field] !== undefined) errors.forbidden(path.child(field), problem);
  }
  for (const { container, at } of containersOf(spec, path)) {
    for (const field of LINUX_OF_CONTAINER) {
      if (container.securityContext?.[field] !== undefined)
        errors.forbidden(at.child("securityContext", field), problem);
    }
  }
}
