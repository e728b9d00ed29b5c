/** The connections of one listener: how many there are, from where, and their common end. */
import type { Socket } from "node:net";
import type { Log } from "../../base/log.ts";
import type { Loop } from "../../base/loop.ts";
import type { Exchange } from "./exchange.ts";
import type { TransportLimits } from "./limits.ts";

/** A connection that speaks HTTP, of either version. */
export interface Connection {
  /** Those whose answer is not out yet. */
  readonly exchanges: Iterable<Exchange>;
  /** Takes no further request and closes when the answers are out. */
  finish(): void;
}

export class Connections {
  readonly #limits: TransportLimits;
  readonly #log: Log;
  readonly #sockets = new Set<Socket>();
  readonly #perAddress = new Map<string, number>();
  readonly #speaking = new Set<Connection>();
  #state: "open" | "ending" = "open";
  #onEmpty: (() => void) | undefined;

  constructor(limits: TransportLimits, log: Log) {
    this.#limits = limits;
    this.#log = log;
  }

  /** Counts a socket from its first moment; ends it at once when its address has too many. */
  admit(socket: Socket): void {
    const address = socket.remoteAddress ?? "";
    const count = (this.#perAddress.get(address) ?? 0) + 1;
    this.#perAddress.set(address, count);
    this.#sockets.add(socket);
    socket.once("close", () => this.#forget(socket, address));
    if (count <= this.#limits.maxConnectionsPerAddress) return;
    this.#log.debug("a connection was refused: its address has too many", { address });
    socket.destroy();
  }

  add(connection: Connection, socket: Socket): void {
    this.#speaking.add(connection);
    socket.once("close", () => this.#speaking.delete(connection));
    if (this.#state === "ending") connection.finish();
  }

  /** Aborts all requests, waits until their answers are out, and ends what is left after the time of grace. */
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
