/** Parts of a program that follow from the spec alone. Pure. */
import type { Container, Pod, SecurityContext } from "../../api/generated/types/core-v1.ts";
import { plainNumber } from "../../api/values/plain-number.ts";
import { resourceNumber } from "../../resources/pod/resource-number.ts";
import type { Program, ProgramLimits, ProgramPort, ProgramRights, ProgramUser } from "../runtime-handler.ts";

export function programShape(
  pod: Pod,
  container: Container,
): Pick<Program, "workingDir" | "user" | "rights" | "limits" | "ports" | "stdin" | "stdinOnce" | "tty"> {
  const { workingDir, stdin = false, stdinOnce = false, tty = false } = container;
  return {
    workingDir: workingDir === "" ? undefined : workingDir,
    user: userOf(pod, container),
    rights: rightsOf(pod, container),
    limits: limitsOf(container),
    ports: portsOf(container),
    ...{ stdin, stdinOnce, tty },
  };
}

function userOf({ spec }: Pod, { securityContext: own }: Container): ProgramUser {
  const { securityContext: shared } = spec;
  const { fsGroup, supplementalGroups = [] } = shared ?? {};
  const groups = [...supplementalGroups, ...(fsGroup === undefined ? [] : [fsGroup])];
  return {
    uid: numberOf(own?.runAsUser ?? shared?.runAsUser),
    gid: numberOf(own?.runAsGroup ?? shared?.runAsGroup),
    supplementalGroups: groups.map(plainNumber),
  };
}

/** A privileged container keeps all capabilities, as with other runtimes. */
function rightsOf(pod: Pod, { securityContext: own = {} }: Container): ProgramRights {
  const { securityContext: shared = {} } = pod.spec;
  const { privileged: isPrivileged = false, capabilities = {} } = own;
  const { add = [], drop = [] } = capabilities;
  return {
    nonRoot: own.runAsNonRoot ?? shared.runAsNonRoot === true,
    mayGainPrivileges: isPrivileged || own.allowPrivilegeEscalation !== false,
    addedCapabilities: add,
    droppedCapabilities: isPrivileged ? [] : drop,
    hasReadOnlyRoot: own.readOnlyRootFilesystem ?? false,
    profiles: profilesOf(own, shared),
  };
}

type Profiles = Pick<SecurityContext, "seccompProfile" | "appArmorProfile">;

function profilesOf(own: Profiles, shared: Profiles): readonly string[] {
  const { seccompProfile, appArmorProfile } = { ...shared, ...own };
  return Object.entries({ seccompProfile, appArmorProfile }).flatMap(([field, profile]) =>
    profile?.type === "Localhost" ? [`${field}: ${profile.localhostProfile ?? ""}`] : [],
  );
}

function limitsOf({ resources: { limits = {}, requests = {} } }: Container): ProgramLimits {
  const amount = (list: Readonly<Record<string, string>>, name: string): number | undefined => {
    const text = list[name];
    return text === undefined ? undefined : resourceNumber(name, text);
  };
  return {
    cpuRequestMillis: amount(requests, "cpu"),
    cpuLimitMillis: amount(limits, "cpu"),
    memoryLimitBytes: amount(limits, "memory"),
  };
}

function portsOf({ ports = [] }: Container): readonly ProgramPort[] {
  return ports.map(({ name, containerPort, hostPort, protocol = "TCP" }) => ({
    ...{ name, containerPort, hostPort },
    protocol: protocol === "UDP" || protocol === "SCTP" ? protocol : "TCP",
  }));
}

function numberOf(value: number | undefined): number | undefined {
  return value === undefined ? undefined : plainNumber(value);
}
