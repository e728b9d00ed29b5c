/**
 * Checks of the restricted level beyond the baseline: a pod must explicitly drop all privileges that it does not
 * need.
 */
import type { SecurityContext, Volume } from "../../../../../api/generated/types/core-v1.ts";
import { procMount } from "./baseline-checks.ts";
import type { Check, CheckPod, Inspected } from "./check.ts";
import { counted, distinct, named, quotedList, settersText } from "./check.ts";
import { badContainers, isConfined, unlessOwnUsers } from "./inspection.ts";
import { seccomp } from "./profile-checks.ts";

/** Volume types that give access only to the API's objects and to claims. */
const VOLUMES: readonly (keyof Volume)[] = [
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "image",
  "persistentVolumeClaim",
  "projected",
  "secret",
];

export const RESTRICTED_CHECKS: readonly Check[] = [
  {
    id: "allowPrivilegeEscalation",
    versions: new Map([
      [8, escalation],
      [25, unlessWindows(escalation)],
    ]),
  },
  {
    id: "capabilities_restricted",
    versions: new Map([
      [22, capabilities],
      [25, unlessWindows(capabilities)],
    ]),
    overrides: "capabilities_baseline",
  },
  { id: "procMount_restricted", versions: new Map([[35, procMount]]), overrides: "procMount" },
  { id: "restrictedVolumes", versions: new Map([[0, volumes]]), overrides: "hostPathVolumes" },
  {
    id: "runAsNonRoot",
    versions: new Map([
      [0, nonRoot],
      [35, unlessOwnUsers(nonRoot)],
    ]),
  },
  {
    id: "runAsUser",
    versions: new Map([
      [23, rootUser],
      [35, unlessOwnUsers(rootUser)],
    ]),
  },
  {
    id: "seccompProfile_restricted",
    versions: new Map([
      [19, seccompSet],
      [25, unlessWindows(seccompSet)],
    ]),
    overrides: "seccompProfile_baseline",
  },
];

/** Windows does not have these settings. */
function unlessWindows(check: CheckPod): CheckPod {
  return (pod) => (pod.spec.os?.name === "windows" ? undefined : check(pod));
}

function escalation(pod: Inspected): ReturnType<CheckPod> {
  const containers = badContainers(pod, (context) => context?.allowPrivilegeEscalation !== false);
  if (containers.length === 0) return undefined;
  const detail = `${named("container", containers)} must set securityContext.allowPrivilegeEscalation=false`;
  return { reason: "allowPrivilegeEscalation != false", detail };
}

function capabilities(pod: Inspected): ReturnType<CheckPod> {
  const added = (context: SecurityContext | undefined): readonly string[] =>
    (context?.capabilities?.add ?? []).filter((name) => name !== "NET_BIND_SERVICE");
  const keeping = badContainers(pod, (context) => context?.capabilities?.drop?.includes("ALL") !== true);
  const adding = badContainers(pod, (context) => added(context).length > 0);
  const details: string[] = [];
  if (keeping.length > 0)
    details.push(`${named("container", keeping)} must set securityContext.capabilities.drop=["ALL"]`);
  if (adding.length > 0) {
    const names = distinct(pod.containers.flatMap(({ securityContext }) => added(securityContext)));
    const what = quotedList(names);
    const detail = `${named("container", adding)} must not include ${what} in securityContext.capabilities.add`;
    details.push(detail);
  }
  return details.length === 0
    ? undefined
    : { reason: "unrestricted capabilities", detail: details.join("; ") };
}

function volumes({ spec }: Inspected): ReturnType<CheckPod> {
  const bad = (spec.volumes ?? []).filter((volume) =>
    VOLUMES.every((source) => volume[source] === undefined),
  );
  if (bad.length === 0) return undefined;
  const names = bad.map(({ name }) => name);
  const types = distinct(bad.map(typeOf));
  const use = names.length === 1 ? "uses" : "use";
  const what = `${counted("restricted volume type", types.length)} ${quotedList(types)}`;
  return { reason: "restricted volume types", detail: `${named("volume", names)} ${use} ${what}` };
}

/** The only source of the volume. */
function typeOf(volume: Volume): string {
  return Object.keys(volume).find((key) => key !== "name") ?? "unknown";
}

function nonRoot(pod: Inspected): ReturnType<CheckPod> {
  const reason = "runAsNonRoot != true";
  const ofPod = pod.spec.securityContext?.runAsNonRoot;
  const roots = badContainers(pod, (context) => context?.runAsNonRoot === false);
  const who = settersText(ofPod === false, roots);
  if (who !== "") return { reason, detail: `${who} must not set securityContext.runAsNonRoot=false` };
  const silent = badContainers(pod, (context) => context?.runAsNonRoot === undefined && ofPod !== true);
  if (silent.length === 0) return undefined;
  return {
    reason,
    detail: `pod or ${named("container", silent)} must set securityContext.runAsNonRoot=true`,
  };
}

function rootUser(pod: Inspected): ReturnType<CheckPod> {
  const roots = badContainers(pod, (context) => context?.runAsUser === 0);
  const who = settersText(pod.spec.securityContext?.runAsUser === 0, roots);
  return who === "" ? undefined : { reason: "runAsUser=0", detail: `${who} must not set runAsUser=0` };
}

function seccompSet(pod: Inspected): ReturnType<CheckPod> {
  const bad = seccomp(pod);
  if (bad !== undefined) return bad;
  const ofPod = pod.spec.securityContext?.seccompProfile;
  if (ofPod !== undefined && isConfined(ofPod.type)) return undefined;
  const silent = badContainers(pod, (context) => context?.seccompProfile === undefined);
  if (silent.length === 0) return undefined;
  const what = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"';
  return { reason: "seccompProfile", detail: `pod or ${named("container", silent)} ${what}` };
}
