/** The connections of one listener: bounds their number in all and per address, and closes them together. */
import type { Socket } from "node:net";
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { addressBlock } from "./address-block.ts";
import type { HttpExchange } from "./http-exchange.ts";
import type { TransportLimits } from "./limits.ts";
import { UnverifiedConnections } from "./unverified-connections.ts";

/** A connection that carries HTTP/1.1 or HTTP/2. */
export interface Connection {
  /** Exchanges whose response is not completely written. */
  readonly exchanges: Iterable<HttpExchange>;
  /** Takes no further request and closes once the responses are written. */
  finish(): void;
}

export class Connections {
  readonly #limits: TransportLimits;
  readonly #log: Log;
  readonly #sockets = new Set<Socket>();
  readonly #perAddress = new Map<string, number>();
  readonly #unverified = new UnverifiedConnections();
  /** Sockets that were destroyed and are not closed yet. */
  #endingCount = 0;
  readonly #speaking = new Set<Connection>();
  #state: "open" | "ending" = "open";
  #onEmpty: (() => void) | undefined;

  constructor(limits: TransportLimits, log: Log) {
    this.#limits = limits;
    this.#log = log;
  }

  /**
   * Counts a socket from its accept, and destroys it when its address has too many. When the total is too high, an
   * unverified connection is destroyed: the oldest one of the address with the most of them.
   */
  admit(socket: Socket): void {
    const address = addressBlock(socket.remoteAddress);
    const count = (this.#perAddress.get(address) ?? 0) + 1;
    const { maxConnections, maxConnectionsPerAddress } = this.#limits;
    this.#perAddress.set(address, count);
    this.#sockets.add(socket);
    this.#unverified.add(socket);
    // A closed socket has no remote address any more.
    const { remoteAddress, remotePort } = socket;
    socket.once("close", () => {
      this.#unverified.delete({ remoteAddress, remotePort });
      this.#forget(socket, address);
    });
    if (count > maxConnectionsPerAddress) this.#end(socket, "too many connections from its address");
    else if (this.#sockets.size - this.#endingCount > maxConnections)
      this.#end(this.#unverified.oldestOfMost() ?? socket, "too many connections");
  }

  #end(socket: Socket, reason: string): void {
    const { remoteAddress } = socket;
    this.#log.debug("a connection was closed", { reason, remoteAddress });
    this.#unverified.delete(socket);
    this.#endingCount += 1;
    socket.once("close", () => {
      this.#endingCount -= 1;
    });
    socket.destroy();
  }

  /** Marks the client of a connection as verified. Verified connections are not evicted for new ones. */
  trust(socket: Socket): void {
    this.#unverified.delete(socket);
  }

  add(connection: Connection, socket: Socket): void {
    this.#speaking.add(connection);
    socket.once("close", () => this.#speaking.delete(connection));
    if (this.#state === "ending") connection.finish();
  }

  /**
   * Aborts all requests and waits until their responses are written. Destroys the remaining connections after
   * `graceMs`.
   */
  async end(
    reason: Error,
    { loop, graceMs }: { readonly loop: Loop; readonly graceMs: number },
  ): Promise<void> {
    this.#state = "ending";
    for (const connection of this.#speaking) {
      for (const exchange of [...connection.exchanges]) exchange.abort(reason);
      connection.finish();
    }
    const graceOver = loop.timer(loop.now() + graceMs, "progress", () => this.#destroyAll());
    await this.#empty();
    graceOver.cancel();
  }

  #empty(): Promise<void> {
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
      if (this.#sockets.size === 0) resolve();
    });
  }

  #destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #forget(socket: Socket, address: string): void {
    const left = (this.#perAddress.get(address) ?? 1) - 1;
    if (left === 0) this.#perAddress.delete(address);
    else this.#perAddress.set(address, left);
    this.#sockets.delete(socket);
    if (this.#sockets.size === 0) this.#onEmpty?.();
  }
}
