/** Parts of a program that follow from the spec alone. Pure. */
import type { Container, Pod } from "../../api/generated/types/core-v1.ts";
import { plainNumber } from "../../api/values/plain-number.ts";
import { resourceNumber } from "../../resources/pod/resource-number.ts";
import type { Program, ProgramLimits, ProgramPort, ProgramUser } from "../runtime-handler.ts";

export function programShape(
  pod: Pod,
  container: Container,
): Pick<Program, "workingDir" | "user" | "limits" | "ports" | "stdin" | "stdinOnce" | "tty"> {
  const { workingDir, stdin = false, stdinOnce = false, tty = false } = container;
  return {
    workingDir: workingDir === "" ? undefined : workingDir,
    user: userOf(pod, container),
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
