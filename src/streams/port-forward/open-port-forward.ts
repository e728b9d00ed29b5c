/** Client side of port forwarding over SPDY. */
import type { Duplex } from "node:stream";
import type { Loop } from "../../base/loop/loop.ts";
import { SpdyConnection } from "../spdy/spdy-connection.ts";
import { requestUpgrade } from "../upgrade.ts";
import { PORT_FORWARD_PROTOCOL } from "./accept-port-forward.ts";

export interface PortForwardTarget {
  /** Path and query. */
  readonly path: string;
  /** Value of the Host header. */
  readonly authority: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly loop: Loop;
}

export interface PortForward {
  /** Connects to a port of the pod. */
  readonly connect: (port: number) => ForwardedConnection;
  readonly closed: Promise<void>;
  readonly close: () => void;
}

export interface ForwardedConnection {
  readonly stream: Duplex;
  /** Text of the node's error; empty without one. */
  readonly error: Promise<string>;
}

/** Rejects with UpgradeRefused, or when the connection fails. */
export async function openPortForward(socket: Duplex, target: PortForwardTarget): Promise<PortForward> {
  const { path, authority, headers, loop } = target;
  const upgraded = await requestUpgrade(socket, {
    method: "POST",
    path,
    authority,
    protocol: "SPDY/3.1",
    headers: { ...headers, "x-stream-protocol-version": PORT_FORWARD_PROTOCOL },
  });
  return portForwardOn(upgraded, loop);
}

/** Forwards ports on a connection that has switched to SPDY. */
export function portForwardOn(
  { socket, head }: { readonly socket: Duplex; readonly head: Uint8Array },
  loop: Loop,
): PortForward {
  const connection = new SpdyConnection(socket, { role: "client", loop, head });
  connection.start();
  let requests = 0;
  return {
    connect(port) {
      const headers = { port: String(port), requestid: String(requests++) };
      const open = (streamtype: string): Duplex =>
        connection.open(new Map(Object.entries({ streamtype, ...headers })));
      const error = open("error");
      error.end();
      return { stream: open("data"), error: textOf(error) };
    },
    closed: connection.closed,
    close: () => connection.close(),
  };
}

const ERROR_BYTES_MAX = 64 * 1024;

async function textOf(stream: Duplex): Promise<string> {
  let text = "";
  try {
    for await (const piece of stream as AsyncIterable<Buffer>)
      if (text.length < ERROR_BYTES_MAX) text += piece.toString();
  } catch {
    return "the connection closed";
  }
  return text;
}
