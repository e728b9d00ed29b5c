/** The log of a container: text as it comes from the kubelet, over HTTP or a WebSocket. */
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { badRequest, DeniedError } from "../../api/errors/api-error.ts";
import { chosenProtocol, offerWebSocket } from "../../streams/websocket/accept-web-socket.ts";
import type { OfferedWebSocket } from "../../streams/websocket/accept-web-socket.ts";
import type { MessageStream } from "../../streams/websocket/message-stream.ts";
import type { Relay, RelayPlace } from "../relay/relay.ts";
import type { Call } from "../request/call.ts";
import type { AcceptedRequest, HttpResponse } from "../request/http.ts";
import { spokenProtocols } from "../request/websocket-token.ts";
import { kubeletError } from "./kubelet-error.ts";
import { asText } from "./kubelet-request.ts";

/** As upstream, a kubelet's error text is cut at this length. */
const ERROR_BYTES_MAX = 50_000;
const BASE64 = "base64.binary.k8s.io";
const SOCKET_PROTOCOLS = ["", "binary.k8s.io", BASE64];

/** Throws a Status for a kubelet that cannot be reached or refuses. */
export async function sendLog(
  { request, info }: Call,
  place: Omit<RelayPlace, "unreached">,
  relay: Relay,
): Promise<HttpResponse> {
  const socket = request.isUpgrade === true ? openSocket(request) : undefined;
  const response = await relay.send(asText(request), { ...place, unreached: unreachedError(place) });
  if (response.status < 200 || response.status > 206) {
    socket?.stream.destroy();
    throw kubeletError(response.status, await shortText(response), ["pods/log", info.name]);
  }
  const { body } = response;
  const pieces = body instanceof Uint8Array ? Readable.from([body]) : body;
  if (socket === undefined)
    return { status: 200, headers: new Map([["content-type", "text/plain"]]), body: pieces };
  // The client sees an error as the end of its connection.
  void pipeline(Readable.from(pieces), messagesOf(socket.protocol), socket.messages).catch(() => undefined);
  socket.messages.resume();
  const switched = { stream: socket.stream, head: new Uint8Array() };
  return { status: 101, headers: socket.headers, body: new Uint8Array(), switched };
}

function unreachedError({
  address,
  target,
}: Omit<RelayPlace, "unreached">): RelayPlace["unreached"] & object {
  const scheme = address.isTls ? "https" : "http";
  return (why) => new DeniedError(`Get "${scheme}://${address.authority}${target}": ${why}`, { code: 500 });
}

interface LogSocket extends Omit<OfferedWebSocket, "messages"> {
  readonly messages: MessageStream;
  readonly protocol: string;
}

function openSocket(request: AcceptedRequest): LogSocket {
  const requested = spokenProtocols(request.headers.get("sec-websocket-protocol"));
  const protocol = chosenProtocol(requested, SOCKET_PROTOCOLS);
  if (protocol === undefined)
    throw new DeniedError(
      `requested protocol(s) are not supported: [${requested.join(" ")}]; supports [${SOCKET_PROTOCOLS.join(" ")}]`,
      { code: 403, servedReason: "Forbidden" },
    );
  const { messages, ...offered } = offerWebSocket(request.headers, protocol);
  if (messages === undefined) throw badRequest("the request is not a valid WebSocket handshake");
  return { ...offered, messages, protocol };
}

function messagesOf(protocol: string): Transform {
  return new Transform({
    objectMode: true,
    transform(piece: Uint8Array, _encoding, done) {
      const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
      done(null, protocol === BASE64 ? bytes.toString("base64") : bytes);
    },
  });
}

async function shortText({ body }: HttpResponse): Promise<string> {
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    pieces.push(piece);
    bytes += piece.byteLength;
    if (bytes >= ERROR_BYTES_MAX) break;
  }
  return Buffer.concat(pieces).subarray(0, ERROR_BYTES_MAX).toString();
}
