/** A connection of its own to the server, for protocols to which HTTP upgrades: exec, attach, port forwarding. */
import { connect as connectTcp, isIP } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import type { ConnectionOptions } from "node:tls";
import type { Loop } from "../../base/loop/loop.ts";

export interface ServerSocket {
  readonly socket: Duplex;
  /** Value of the Host header. */
  readonly authority: string;
  /** Headers that authenticate a request on the socket. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Part of the server's URL before the paths of the API; mostly empty. */
  readonly pathPrefix: string;
}

/** Opens connections of their own to a server. */
export interface ServerDialer {
  /** Rejects when the server cannot be reached, or when its certificate is not trusted. */
  dial(signal: AbortSignal): Promise<ServerSocket>;
}

export interface DialOptions {
  readonly loop: Loop;
  readonly host: string;
  readonly port: number;
  /** Undefined without TLS. */
  readonly tls: ConnectionOptions | undefined;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** An abort closes the socket, also once it is connected. */
export function connectSocket({ loop, host, port, tls, signal, timeoutMs }: DialOptions): Promise<Duplex> {
  const connecting = new Promise<Duplex>((resolve, reject) => {
    signal.throwIfAborted();
    const socket =
      tls === undefined
        ? connectTcp({ host, port })
        : connectTls({ ...named(host), ...tls, host, port, ALPNProtocols: ["http/1.1"] });
    const late = new Error(`the server was not connected within ${timeoutMs / 1000} s`);
    const deadline = loop.timer(loop.now() + timeoutMs, "periodic", () => void socket.destroy(late));
    const onAbort = (): void => void socket.destroy(new Error("aborted"));
    signal.addEventListener("abort", onAbort, { once: true });
    socket.once(tls === undefined ? "connect" : "secureConnect", () => {
      deadline.cancel();
      socket.setNoDelay(true);
      resolve(socket);
    });
    socket.on("error", reject);
    socket.once("close", () => {
      deadline.cancel();
      signal.removeEventListener("abort", onAbort);
      reject(new Error("the connection was closed"));
    });
  });
  return loop.outside("socket", connecting);
}

/** Servers with several certificates choose by the name. An address is no name. */
function named(host: string): Pick<ConnectionOptions, "servername"> {
  return isIP(host) === 0 ? { servername: host } : {};
}
