/** Client side of WebSockets. */
import type { Duplex } from "node:stream";
import { readRefusal } from "../upgrade.ts";
import { MessageStream } from "./message-stream.ts";
import { wsPackage } from "./ws-package.ts";

const MESSAGE_BYTES_MAX = 4 * 1024 * 1024;

export interface WebSocketTarget {
  /** Path and query. */
  readonly path: string;
  /** Value of the Host header. */
  readonly authority: string;
  /** Protocols in the order of preference. */
  readonly protocols: readonly string[];
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

export interface ConnectedWebSocket {
  readonly messages: MessageStream;
  /** The protocol that the server chose. */
  readonly protocol: string;
}

/** Does the handshake on `socket`. Rejects with UpgradeRefused or the error of the connection. */
export function connectWebSocket(socket: Duplex, target: WebSocketTarget): Promise<ConnectedWebSocket> {
  const { path, authority, protocols, headers } = target;
  const { WebSocket } = wsPackage();
  return new Promise((resolve, reject) => {
    const client = new WebSocket(`ws://${authority}${path}`, [...protocols], {
      createConnection: () => socket,
      headers: { ...headers, host: authority },
      autoPong: false,
      perMessageDeflate: false,
      maxPayload: MESSAGE_BYTES_MAX,
    });
    // Messages may follow in the same turn as the response, so the stream listens from the start.
    const messages = new MessageStream(client);
    client.once("open", () => resolve({ messages, protocol: client.protocol }));
    client.once("error", reject);
    client.once("unexpected-response", (_request, response) => {
      readRefusal(response).then(reject, reject);
    });
  });
}
