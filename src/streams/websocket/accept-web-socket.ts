/** Server side of WebSockets. The package `ws` does handshake and framing. */
import { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { duplexPair } from "../duplex-pair.ts";
import type { UpgradeRequest } from "../upgrade.ts";
import { MessageStream } from "./message-stream.ts";
import { wsPackage } from "./ws-package.ts";

/** Largest message of a peer. Clients of Kubernetes send 32 KiB. */
const MESSAGE_BYTES_MAX = 4 * 1024 * 1024;

/** Protocols in a Sec-WebSocket-Protocol header, in the client's order. */
export function protocolsIn(header: string | undefined): readonly string[] {
  return (header ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

/** The first requested protocol that the server supports. No request means the protocol "". */
export function chosenProtocol(
  requested: readonly string[],
  supported: readonly string[],
): string | undefined {
  return (requested.length === 0 ? [""] : requested).find((name) => supported.includes(name));
}

/**
 * Answers the request on its socket with 101 and `protocol`. A malformed request is answered with 400, and the result is
 * undefined.
 */
export function acceptWebSocket(upgrade: UpgradeRequest, protocol: string): MessageStream | undefined {
  const { WebSocketServer } = wsPackage();
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    autoPong: false,
    maxPayload: MESSAGE_BYTES_MAX,
  });
  // The package refuses protocols with a slash, such as `SPDY/3.1+portforward.k8s.io`, so it sees none.
  server.on("headers", (lines) => {
    if (protocol !== "") lines.push(`Sec-WebSocket-Protocol: ${protocol}`);
  });
  const { socket, head } = upgrade;
  let messages: MessageStream | undefined;
  server.handleUpgrade(requestOf(upgrade), socket as Socket, Buffer.from(head), (accepted) => {
    messages = new MessageStream(accepted);
  });
  return messages;
}

function requestOf({ headers, socket }: UpgradeRequest): IncomingMessage {
  const request = new IncomingMessage(socket as Socket);
  request.method = "GET";
  request.headers = { ...headers };
  delete request.headers["sec-websocket-protocol"];
  return request;
}

/** A WebSocket whose handshake is answered by other code. */
export interface OfferedWebSocket {
  readonly status: number;
  /** Headers of the response; lower-case names. */
  readonly headers: ReadonlyMap<string, string>;
  /** Bytes of the connection behind the response. With a status other than 101, the body of the response. */
  readonly stream: Duplex;
  /** Undefined if the request is malformed. */
  readonly messages: MessageStream | undefined;
}

/** Answers a request in memory: the caller sends the response's head and joins the stream with the client's connection. */
export function offerWebSocket(headers: ReadonlyMap<string, string>, protocol: string): OfferedWebSocket {
  const [stream, socket] = duplexPair();
  const upgrade = { headers: Object.fromEntries(headers), socket, head: Buffer.alloc(0) };
  const messages = acceptWebSocket(upgrade, protocol);
  return { ...headOf(stream), stream, messages };
}

/** Reads the head, which was written already. */
function headOf(stream: Duplex): { readonly status: number; readonly headers: ReadonlyMap<string, string> } {
  const bytes = (stream.read() ?? Buffer.alloc(0)) as Buffer;
  const end = bytes.indexOf("\r\n\r\n");
  stream.unshift(bytes.subarray(end + 4));
  const [first = "", ...lines] = bytes.subarray(0, end).toString("latin1").split("\r\n");
  const fields = lines.map((line) => {
    const at = line.indexOf(":");
    return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()] as const;
  });
  return { status: Number(first.split(" ")[1]), headers: new Map(fields) };
}
