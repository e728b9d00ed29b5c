/** One request on a socket, up to the head of its response. Redirects are not followed. */
import { request as httpRequest } from "node:http";
import type { ClientRequest, IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { RequestOptions } from "node:https";
import type { Socket } from "node:net";
import { pipeline } from "node:stream";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";

export type OutgoingBody = Uint8Array | AsyncIterable<Uint8Array> | undefined;

export interface OutgoingRequest {
  readonly isTls: boolean;
  readonly options: RequestOptions;
  readonly body: OutgoingBody;
  /** Closes the socket at once when aborted, also while the response is read. */
  readonly signal: AbortSignal;
  /** Whether the server may switch protocols. An unexpected switch fails the request. */
  readonly mayUpgrade: boolean;
  /** Time to connect, with the TLS handshake, in milliseconds; unlimited if absent. */
  readonly connectMs?: number | undefined;
}

export interface ReceivedResponse {
  readonly answer: IncomingMessage;
  /** Set when the server switched protocols: the socket and the bytes already received. */
  readonly upgraded: { readonly socket: Duplex; readonly head: Buffer } | undefined;
}

/** The request failed before a response came. */
export class OutgoingRequestError extends Error {
  /** No byte of the request was handed to the connection. */
  readonly isUnsent: boolean;
  /** The connection was kept alive from an earlier request: the server may have closed it just before this one. */
  readonly isReused: boolean;

  constructor(cause: unknown, seen: { readonly isUnsent: boolean; readonly isReused: boolean }) {
    super("the request failed before a response", { cause });
    this.isUnsent = seen.isUnsent;
    this.isReused = seen.isReused;
  }
}

/** The connection was silent for longer than its timeout. */
class SilenceError extends Error {
  readonly code = "ESILENT";
}

/** The connection was not made in time. */
class ConnectError extends Error {
  readonly code = "ETIMEDOUT";
}

export function sendRequest(start: OutgoingRequest): Promise<ReceivedResponse> {
  const { isTls, options, body, signal, mayUpgrade } = start;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const outgoing = isTls ? httpsRequest(options) : httpRequest(options);
    const wasSent = sendingSeen(outgoing);
    let answer: IncomingMessage | undefined;
    const end = (error: Error): void => void (answer ?? outgoing).destroy(error);
    const cut = (): void => end(new Error("aborted"));
    const fail = (error: unknown): void =>
      reject(new OutgoingRequestError(error, { isUnsent: !wasSent(), isReused: outgoing.reusedSocket }));
    signal.addEventListener("abort", cut, { once: true });
    outgoing.on("response", (incoming) => {
      answer = incoming;
      // Readers of the body receive the error too; without a reader it does not matter.
      incoming.on("error", () => undefined);
      resolve({ answer: incoming, upgraded: undefined });
    });
    if (mayUpgrade) {
      outgoing.on("upgrade", (incoming, socket, head) => {
        socket.on("error", () => undefined);
        resolve({ answer: incoming, upgraded: { socket, head } });
      });
    }
    // Without a timeout of its own, the request would get the agent's, which is meant for idle connections.
    if (options.timeout !== undefined) outgoing.on("timeout", () => end(new SilenceError()));
    if (start.connectMs !== undefined) limitConnecting(outgoing, start.connectMs, end);
    outgoing.on("error", fail);
    outgoing.on("close", () => {
      signal.removeEventListener("abort", cut);
      fail(undefined);
    });
    send(outgoing, body);
  });
}

/** The socket's own timeout counts until it is connected, and stops then. */
function limitConnecting(outgoing: ClientRequest, connectMs: number, end: (error: Error) => void): void {
  outgoing.on("socket", (socket) => {
    if (!socket.connecting) return;
    const late = (): void => end(new ConnectError());
    socket.setTimeout(connectMs, late);
    socket.once(socket instanceof TLSSocket ? "secureConnect" : "connect", () => {
      socket.setTimeout(0, late);
      socket.off("timeout", late);
    });
  });
}

function send(outgoing: ClientRequest, body: OutgoingBody): void {
  if (body === undefined || body instanceof Uint8Array) outgoing.end(body);
  // A body that fails aborts the request; otherwise the server would take half a body for a whole one.
  else pipeline(body, outgoing, () => undefined);
}

function sendingSeen(outgoing: ClientRequest): () => boolean {
  let socket: Socket | undefined;
  let before = 0;
  outgoing.on("socket", (assigned) => {
    socket = assigned;
    before = assigned.bytesWritten;
  });
  return () => socket !== undefined && socket.bytesWritten > before;
}
