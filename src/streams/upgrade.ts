/** HTTP requests that switch protocols, seen from both sides. */
import { request as httpRequest, STATUS_CODES } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

/** A request to switch protocols, as the `upgrade` event of node:http delivers it. */
export interface UpgradeRequest {
  /** Lower-case names. */
  readonly headers: IncomingHttpHeaders;
  readonly socket: Duplex;
  /** Bytes received behind the request. */
  readonly head: Uint8Array;
}

export interface UpgradeTarget {
  readonly method: "GET" | "POST";
  /** Path and query. */
  readonly path: string;
  /** Value of the Host header. */
  readonly authority: string;
  /** Value of the Upgrade header. */
  readonly protocol: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

/** The server answered with another status than 101. */
export class UpgradeRefused extends Error {
  readonly status: number;
  readonly body: string;

  constructor(status: number, body: string) {
    super(`unable to upgrade connection: ${body === "" ? `status ${status}` : body}`);
    this.status = status;
    this.body = body;
  }
}

/** Sends the request on `socket`. Rejects with UpgradeRefused or the error of the connection. */
export function requestUpgrade(socket: Duplex, target: UpgradeTarget): Promise<UpgradeRequest> {
  const { method, path, authority, protocol, headers } = target;
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({
      method,
      path,
      headers: { ...headers, host: authority, connection: "Upgrade", upgrade: protocol } as Record<
        string,
        string | string[]
      >,
      createConnection: () => socket,
    });
    outgoing.once("upgrade", (answer, switched, head) =>
      resolve({ headers: answer.headers, socket: switched, head }),
    );
    outgoing.once("response", (answer) => {
      readRefusal(answer).then(reject, reject);
    });
    outgoing.once("error", reject);
    outgoing.end();
  });
}

/** Answers with 101. The bytes behind it belong to the other protocol. */
export function acceptUpgrade(
  { socket }: UpgradeRequest,
  protocol: string,
  headers: Readonly<Record<string, string>>,
): void {
  const fields = { Connection: "Upgrade", Upgrade: protocol, ...headers };
  socket.write(headText(101, fields), "latin1");
}

/** Answers with an error in plain text, and closes. */
export function refuseUpgrade({ socket }: UpgradeRequest, status: number, text: string): void {
  const body = Buffer.from(`${text}\n`);
  const fields = {
    "Content-Type": "text/plain; charset=utf-8",
    "Content-Length": String(body.byteLength),
    Connection: "close",
  };
  socket.on("error", () => undefined);
  socket.write(headText(status, fields), "latin1");
  socket.end(body);
}

function headText(status: number, fields: Readonly<Record<string, string>>): string {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n`;
}

const REFUSAL_BYTES_MAX = 64 * 1024;

/** The error of an answer that did not switch protocols. */
export async function readRefusal(answer: IncomingMessage): Promise<UpgradeRefused> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of answer as AsyncIterable<Uint8Array>) {
    pieces.push(piece);
    bytes += piece.byteLength;
    if (bytes > REFUSAL_BYTES_MAX) break;
  }
  return new UpgradeRefused(answer.statusCode ?? 0, Buffer.concat(pieces).toString().trim());
}
