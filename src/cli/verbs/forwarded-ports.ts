/** Ports of `setpoint port-forward`: `LOCAL:REMOTE`, `:REMOTE` or `PORT`. Pure. */
import type { Pod, Service } from "../../api/generated/types/core-v1.ts";
import { UsageError } from "../command.ts";

export interface ForwardedPort {
  /** 0 lets the operating system pick a free port. */
  readonly local: number;
  /** Port of the pod. */
  readonly remote: number;
}

/** The remote port may be the name of a port. With a Service, it is a port of the Service. */
export function parsePort(text: string, pod: Pod, service?: Service): ForwardedPort {
  const [first = "", second, ...rest] = text.split(":");
  const remoteText = second ?? first;
  if (remoteText === "" || rest.length > 0)
    throw new UsageError(`a port is written LOCAL:REMOTE, :REMOTE or PORT, found "${text}"`);
  if (remoteText === "0") throw new UsageError(`the pod's port must be above 0, found "${text}"`);
  const named = service === undefined ? podPort(remoteText, pod) : servicePort(remoteText, service);
  // A single name stands for the number on both sides.
  const local = second === undefined ? named : portNumber(first === "" ? "0" : first, text);
  return { local, remote: service === undefined ? named : targetOf(named, service, pod) };
}

function podPort(text: string, pod: Pod): number {
  return isNumber(text) ? portNumber(text, text) : namedPort(text, pod);
}

function servicePort(text: string, { metadata, spec }: Service): number {
  if (isNumber(text)) return portNumber(text, text);
  const found = spec?.ports?.find(({ name }) => name === text);
  if (found === undefined) throw new Error(`Service '${metadata.name}' does not have a named port '${text}'`);
  return found.port;
}

/** The pod's port behind a port of the Service. */
function targetOf(port: number, { metadata, spec }: Service, pod: Pod): number {
  const found = spec?.ports?.find((each) => each.port === port);
  if (found === undefined) throw new Error(`Service ${metadata.name} does not have a service port ${port}`);
  if (found.protocol === "UDP") throw new Error(`UDP protocol is not supported for ${port}`);
  const { targetPort = 0 } = found;
  if (spec?.clusterIP === "None" || targetPort === 0) return port;
  return typeof targetPort === "number" ? targetPort : namedPort(targetPort, pod);
}

function namedPort(name: string, { metadata, spec }: Pod): number {
  const containers = [...spec.containers, ...(spec.initContainers ?? [])];
  const found = containers.flatMap(({ ports = [] }) => ports).find((each) => each.name === name);
  if (found === undefined) throw new Error(`Pod '${metadata.name}' does not have a named port '${name}'`);
  return found.containerPort;
}

const PORT_MAX = 65_535;

function portNumber(text: string, whole: string): number {
  const port = Number(text);
  if (isNumber(text) && port <= PORT_MAX) return port;
  throw new UsageError(`a port is a number up to ${PORT_MAX}, found "${text}" in "${whole}"`);
}

function isNumber(text: string): boolean {
  return /^\d+$/.test(text);
}
