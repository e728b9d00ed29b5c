/** Connections of unverified clients by address, in order of arrival. */
import type { Socket } from "node:net";
import { addressBlock } from "./address-block.ts";

export class UnverifiedConnections {
  /** By address block, then by the client's own address and port: no two open connections have the same. */
  readonly #sockets = new Map<string, Map<string, Socket>>();

  add(socket: Socket): void {
    const block = addressBlock(socket.remoteAddress);
    const known = this.#sockets.get(block);
    if (known === undefined) this.#sockets.set(block, new Map([[placeOf(socket), socket]]));
    else known.set(placeOf(socket), socket);
  }

  /** `socket` may be another object for the same connection, such as the TLS socket over it. */
  delete(socket: Pick<Socket, "remoteAddress" | "remotePort">): void {
    const block = addressBlock(socket.remoteAddress);
    const known = this.#sockets.get(block);
    known?.delete(placeOf(socket));
    if (known?.size === 0) this.#sockets.delete(block);
  }

  /** The oldest connection of the address with the most connections. */
  oldestOfMost(): Socket | undefined {
    let most: ReadonlyMap<string, Socket> | undefined;
    for (const each of this.#sockets.values()) if (most === undefined || each.size > most.size) most = each;
    for (const socket of most?.values() ?? []) return socket;
    return undefined;
  }
}

function placeOf({ remoteAddress, remotePort }: Pick<Socket, "remoteAddress" | "remotePort">): string {
  return `${remoteAddress ?? ""} ${String(remotePort)}`;
}
