/**
 * Host ports of pods. The scheduler and the agent apply the same rule: a port on all addresses conflicts with
 * the same port on any address.
 */
import type { Container, Pod } from "../../api/generated/types/core-v1.ts";
import { isSidecar } from "./pod-resources.ts";

export interface HostPort {
  readonly protocol: string;
  readonly port: number;
  readonly ip: string;
}

const ANY_ADDRESS = "0.0.0.0";

/** Ports in use while the pod runs. Init containers that end are excluded. */
export function hostPorts({ initContainers = [], containers }: Pod["spec"]): readonly HostPort[] {
  return [...initContainers.filter(isSidecar), ...containers].flatMap(containerHostPorts);
}

function containerHostPorts({ ports = [] }: Container): readonly HostPort[] {
  return ports.flatMap(({ hostPort = 0, hostIP = "", protocol = "TCP" }) =>
    hostPort > 0 ? [{ protocol, port: hostPort, ip: hostIP === "" ? ANY_ADDRESS : hostIP }] : [],
  );
}

/** Host ports in use on a node. */
export class HostPortTable {
  /** `TCP/80` → number of uses for each address. */
  readonly #taken = new Map<string, Map<string, number>>();

  add(ports: readonly HostPort[]): void {
    for (const port of ports) this.#change(port, 1);
  }

  remove(ports: readonly HostPort[]): void {
    for (const port of ports) this.#change(port, -1);
  }

  conflictsWith(ports: readonly HostPort[]): boolean {
    return ports.some((port) => {
      const addresses = this.#taken.get(portKey(port));
      if (addresses === undefined) return false;
      return port.ip === ANY_ADDRESS || addresses.has(port.ip) || addresses.has(ANY_ADDRESS);
    });
  }

  #change(port: HostPort, difference: number): void {
    const key = portKey(port);
    const addresses = this.#taken.get(key) ?? new Map<string, number>();
    const count = (addresses.get(port.ip) ?? 0) + difference;
    if (count > 0) addresses.set(port.ip, count);
    else addresses.delete(port.ip);
    if (addresses.size > 0) this.#taken.set(key, addresses);
    else this.#taken.delete(key);
  }
}

function portKey({ protocol, port }: HostPort): string {
  return `${protocol}/${String(port)}`;
}
