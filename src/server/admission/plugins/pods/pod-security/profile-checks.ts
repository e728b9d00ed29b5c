/** Checks of the kernel profiles that confine a container: AppArmor, SELinux, seccomp. */
import type { SELinuxOptions, SecurityContext } from "../../../../../api/generated/types/core-v1.ts";
import { quoted } from "../../../../../api/values/message-text.ts";
import type { Check, CheckPod, Inspected } from "./check.ts";
import { counted, distinct, named, quotedList, settersText } from "./check.ts";
import { badContainers, isConfined, valuesOf } from "./inspection.ts";

const SE_LINUX_TYPES = ["", "container_t", "container_init_t", "container_kvm_t"];
const SE_LINUX_TYPES_31 = [...SE_LINUX_TYPES, "container_engine_t"];
const APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/";
const SECCOMP = "seccomp.security.alpha.kubernetes.io/pod";
const CONTAINER_SECCOMP = "container.seccomp.security.alpha.kubernetes.io/";

export const PROFILE_CHECKS: readonly Check[] = [
  { id: "appArmorProfile", versions: new Map([[0, appArmor]]) },
  {
    id: "seLinuxOptions",
    versions: new Map([
      [0, seLinux(SE_LINUX_TYPES)],
      [31, seLinux(SE_LINUX_TYPES_31)],
    ]),
  },
  {
    id: "seccompProfile_baseline",
    versions: new Map([
      [0, seccompNotes],
      [19, seccomp],
    ]),
  },
];

function appArmor(pod: Inspected): ReturnType<CheckPod> {
  const isBad = (context: SecurityContext | undefined): boolean =>
    context?.appArmorProfile !== undefined && !isConfined(context.appArmorProfile.type);
  const types = valuesOf(pod, ({ appArmorProfile }) => appArmorProfile?.type).filter(
    (type) => !isConfined(type),
  );
  const notes = Object.entries(pod.metadata?.annotations ?? {})
    .filter(([key, value]) => key.startsWith(APP_ARMOR) && !isAppArmorNote(value))
    .map(([key, value]) => `${key}=${quoted(value)}`)
    .toSorted();
  const values = [...distinct(types), ...notes];
  if (values.length === 0) return undefined;
  const setters = settersText(isBad(pod.spec.securityContext), badContainers(pod, isBad));
  const annotations = notes.length > 0 ? [counted("annotation", notes.length)] : [];
  const who = [...(setters === "" ? [] : [setters]), ...annotations].join(" and ");
  return {
    reason: counted("forbidden AppArmor profile", values.length),
    detail: `${who} must not set AppArmor profile type to ${quotedList(values)}`,
  };
}

function isAppArmorNote(value: string): boolean {
  return value === "" || value === "runtime/default" || value.startsWith("localhost/");
}

function seLinux(types: readonly string[]): CheckPod {
  const hasBadType = ({ type = "" }: SELinuxOptions): boolean => !types.includes(type);
  const isBad = (context: SecurityContext | undefined): boolean => {
    const options = context?.seLinuxOptions;
    if (options === undefined) return false;
    return hasBadType(options) || (options.user ?? "") !== "" || (options.role ?? "") !== "";
  };
  return (pod) => {
    const who = settersText(isBad(pod.spec.securityContext), badContainers(pod, isBad));
    if (who === "") return undefined;
    const set = valuesOf(pod, ({ seLinuxOptions }) => seLinuxOptions);
    const bad = distinct(set.filter(hasBadType).map(({ type = "" }) => type));
    const what = [
      ...(bad.length > 0 ? [named("type", bad)] : []),
      ...(set.some(({ user = "" }) => user !== "") ? ["user may not be set"] : []),
      ...(set.some(({ role = "" }) => role !== "") ? ["role may not be set"] : []),
    ];
    const detail = `${who} set forbidden securityContext.seLinuxOptions: ${what.join("; ")}`;
    return { reason: "seLinuxOptions", detail };
  };
}

/** Annotations that set seccomp profiles before the API had a field for them. */
function seccompNotes({ metadata, containers }: Inspected): ReturnType<CheckPod> {
  const notes = metadata?.annotations ?? {};
  const keys = [SECCOMP, ...containers.map(({ name }) => `${CONTAINER_SECCOMP}${name}`)];
  const bad = keys.flatMap((key) => {
    const value = Object.hasOwn(notes, key) ? notes[key] : undefined;
    return value === undefined || isSeccompNote(value) ? [] : `${key}=${quoted(value)}`;
  });
  if (bad.length === 0) return undefined;
  const found = distinct(bad);
  return {
    reason: "seccompProfile",
    detail: `forbidden ${counted("annotation", found.length)} ${found.join(", ")}`,
  };
}

function isSeccompNote(value: string): boolean {
  return value === "runtime/default" || value === "docker/default" || value.startsWith("localhost/");
}

/** Refuses seccomp profiles that do not confine; an unset profile is allowed. */
export function seccomp(pod: Inspected): ReturnType<CheckPod> {
  const isBad = (context: SecurityContext | undefined): boolean =>
    context?.seccompProfile !== undefined && !isConfined(context.seccompProfile.type);
  const who = settersText(isBad(pod.spec.securityContext), badContainers(pod, isBad));
  if (who === "") return undefined;
  const types = valuesOf(pod, ({ seccompProfile }) => seccompProfile?.type).filter(
    (type) => !isConfined(type),
  );
  const what = quotedList(distinct(types));
  const detail = `${who} must not set securityContext.seccompProfile.type to ${what}`;
  return { reason: "seccompProfile", detail };
}
