/**
 * Checks of the baseline level, which prevent known ways to control the node. Profile checks are in
 * profile-checks.ts.
 */
import type { LifecycleHandler, Probe, SecurityContext } from "../../../../../api/generated/types/core-v1.ts";
import { PROCESS_RUNTIME } from "../../../../../resources/pod/process-runtime.ts";
import {
  SAFE_SYSCTLS,
  SAFE_SYSCTLS_27,
  SAFE_SYSCTLS_29,
  SAFE_SYSCTLS_32,
} from "../../../../../resources/pod/safe-sysctls.ts";
import type { AnyContainer } from "../pod-containers.ts";
import type { Check, CheckPod, Inspected } from "./check.ts";
import { counted, distinct, named, quotedList, settersText } from "./check.ts";
import { badContainers, unlessOwnUsers } from "./inspection.ts";

/** Default capabilities of containers, without NET_RAW. */
const CAPABILITIES: ReadonlySet<string> = new Set([
  "AUDIT_WRITE",
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "FSETID",
  "KILL",
  "MKNOD",
  "NET_BIND_SERVICE",
  "SETFCAP",
  "SETGID",
  "SETPCAP",
  "SETUID",
  "SYS_CHROOT",
]);

export const BASELINE_CHECKS: readonly Check[] = [
  { id: "capabilities_baseline", versions: new Map([[0, capabilities]]) },
  { id: "hostNamespaces", versions: new Map([[0, hostNamespaces]]) },
  { id: "hostPathVolumes", versions: new Map([[0, hostPaths]]) },
  { id: "hostPorts", versions: new Map([[0, hostPorts]]) },
  { id: "hostProbesAndHostLifecycle", versions: new Map([[34, probeHosts]]) },
  { id: "privileged", versions: new Map([[0, privileged]]) },
  {
    id: "procMount",
    versions: new Map([
      [0, procMount],
      [35, unlessOwnUsers(procMount)],
    ]),
  },
  { id: "processRuntime", versions: new Map([[0, processRuntime]]) },
  {
    id: "sysctls",
    versions: new Map([
      [0, sysctls(SAFE_SYSCTLS)],
      [27, sysctls(SAFE_SYSCTLS_27)],
      [29, sysctls(SAFE_SYSCTLS_29)],
      [32, sysctls(SAFE_SYSCTLS_32)],
    ]),
  },
  { id: "windowsHostProcess", versions: new Map([[0, hostProcess]]) },
];

/** Programs of the machine run with the rights of the node's agent. */
function processRuntime({ spec, runtimeHandler }: Inspected): ReturnType<CheckPod> {
  if (runtimeHandler !== PROCESS_RUNTIME) return undefined;
  const detail = `pod must not set spec.runtimeClassName="${spec.runtimeClassName ?? ""}", which runs it as processes of the node's machine`;
  return { reason: "process runtime", detail };
}

function capabilities(pod: Inspected): ReturnType<CheckPod> {
  const forbidden = (context: SecurityContext | undefined): readonly string[] =>
    (context?.capabilities?.add ?? []).filter((name) => !CAPABILITIES.has(name));
  const containers = badContainers(pod, (context) => forbidden(context).length > 0);
  if (containers.length === 0) return undefined;
  const added = pod.containers.flatMap(({ securityContext }) => forbidden(securityContext));
  const what = quotedList(distinct(added));
  return {
    reason: "non-default capabilities",
    detail: `${named("container", containers)} must not include ${what} in securityContext.capabilities.add`,
  };
}

function hostNamespaces({ spec }: Inspected): ReturnType<CheckPod> {
  const shared = (["hostNetwork", "hostPID", "hostIPC"] as const).filter((name) => spec[name] === true);
  if (shared.length === 0) return undefined;
  return { reason: "host namespaces", detail: shared.map((name) => `${name}=true`).join(", ") };
}

function hostPaths({ spec }: Inspected): ReturnType<CheckPod> {
  const volumes = (spec.volumes ?? []).filter(({ hostPath }) => hostPath !== undefined);
  if (volumes.length === 0) return undefined;
  const names = volumes.map(({ name }) => name);
  return { reason: "hostPath volumes", detail: named("volume", names) };
}

function hostPorts(pod: Inspected): ReturnType<CheckPod> {
  const portsOf = ({ ports = [] }: AnyContainer): readonly string[] =>
    ports.flatMap(({ hostPort = 0 }) => (hostPort === 0 ? [] : String(hostPort)));
  const containers = badContainers(pod, (_context, container) => portsOf(container).length > 0);
  if (containers.length === 0) return undefined;
  const ports = distinct(pod.containers.flatMap(portsOf));
  const use = containers.length === 1 ? "uses" : "use";
  const what = `${counted("hostPort", ports.length)} ${ports.join(", ")}`;
  return { reason: "hostPort", detail: `${named("container", containers)} ${use} ${what}` };
}

function probeHosts(pod: Inspected): ReturnType<CheckPod> {
  const containers = distinct(badContainers(pod, (_context, container) => hostsOf(container).length > 0));
  if (containers.length === 0) return undefined;
  const hosts = distinct(pod.containers.flatMap(hostsOf));
  const use = containers.length === 1 ? "uses" : "use";
  const what = `${counted("probe or lifecycle host", hosts.length)} ${quotedList(hosts)}`;
  return { reason: "probe or lifecycle host", detail: `${named("container", containers)} ${use} ${what}` };
}

/** Hosts that the kubelet contacts for probes and lifecycle hooks instead of the pod. */
function hostsOf(container: AnyContainer): readonly string[] {
  const { livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
  const handlers: readonly (Probe | LifecycleHandler | undefined)[] = [
    livenessProbe,
    readinessProbe,
    startupProbe,
    lifecycle?.postStart,
    lifecycle?.preStop,
  ];
  return handlers
    .flatMap((handler) => [handler?.httpGet?.host ?? "", handler?.tcpSocket?.host ?? ""])
    .filter((host) => host !== "");
}

function privileged(pod: Inspected): ReturnType<CheckPod> {
  const containers = badContainers(pod, (context) => context?.privileged === true);
  if (containers.length === 0) return undefined;
  const detail = `${named("container", containers)} must not set securityContext.privileged=true`;
  return { reason: "privileged", detail };
}

export function procMount(pod: Inspected): ReturnType<CheckPod> {
  const isBad = (context: SecurityContext | undefined): boolean =>
    context?.procMount !== undefined && context.procMount !== "Default";
  const containers = badContainers(pod, isBad);
  if (containers.length === 0) return undefined;
  const mounts = pod.containers.flatMap(({ securityContext }) =>
    isBad(securityContext) ? (securityContext?.procMount ?? []) : [],
  );
  const what = quotedList(distinct(mounts));
  return {
    reason: "procMount",
    detail: `${named("container", containers)} must not set securityContext.procMount to ${what}`,
  };
}

function sysctls(allowed: readonly string[]): CheckPod {
  return ({ spec }) => {
    const names = (spec.securityContext?.sysctls ?? []).map(({ name }) => name);
    const forbidden = names.filter((name) => !allowed.includes(name));
    return forbidden.length === 0 ? undefined : { reason: "forbidden sysctls", detail: forbidden.join(", ") };
  };
}

function hostProcess(pod: Inspected): ReturnType<CheckPod> {
  const isBad = (context: SecurityContext | undefined): boolean =>
    context?.windowsOptions?.hostProcess === true;
  const who = settersText(isBad(pod.spec.securityContext), badContainers(pod, isBad));
  if (who === "") return undefined;
  const detail = `${who} must not set securityContext.windowsOptions.hostProcess=true`;
  return { reason: "hostProcess", detail };
}
