/** Which ports of a node are taken. A port taken on all addresses conflicts with the same port on any. */

import { ANY_ADDRESS, type HostPort } from "./pod-shape.ts";

export class HostPortTable {
  /** `TCP/80` → how often it is taken on each address. */
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
