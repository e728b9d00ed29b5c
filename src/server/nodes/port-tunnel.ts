/** Port forwarding for clients that wrap SPDY in the messages of a WebSocket. The kubelet gets SPDY itself. */
import { badRequest } from "../../api/errors/api-error.ts";
import { PORT_FORWARD_PROTOCOL } from "../../streams/port-forward/accept-port-forward.ts";
import { MessageBytes, TUNNEL_PROTOCOL } from "../../streams/port-forward/message-bytes.ts";
import { offerWebSocket } from "../../streams/websocket/accept-web-socket.ts";
import type { Relay, RelayPlace } from "../relay/relay.ts";
import type { AcceptedRequest, HttpResponse } from "../request/http.ts";
import { spokenProtocols } from "../request/websocket-token.ts";
import { joined } from "../transport/joined-streams.ts";
import { asSpdy } from "./kubelet-request.ts";

export function asksForTunnel({ headers }: AcceptedRequest): boolean {
  const isSocket = headers.get("upgrade")?.toLowerCase() === "websocket";
  return isSocket && spokenProtocols(headers.get("sec-websocket-protocol")).includes(TUNNEL_PROTOCOL);
}

/** A refusal of the kubelet is answered as it is. */
export async function tunnelPorts(
  request: AcceptedRequest,
  place: RelayPlace,
  { relay }: { readonly relay: Relay },
): Promise<HttpResponse> {
  const response = await relay.send(asSpdy(request, PORT_FORWARD_PROTOCOL), { ...place, method: "POST" });
  const { switched } = response;
  if (switched === undefined) return response;
  const { messages, headers, stream } = offerWebSocket(request.headers, TUNNEL_PROTOCOL);
  const head = new Uint8Array();
  if (messages === undefined) {
    switched.stream.destroy();
    throw badRequest("the request is not a valid WebSocket handshake");
  }
  void joined({ stream: new MessageBytes(messages), head }, switched);
  return { status: 101, headers, body: new Uint8Array(), switched: { stream, head } };
}
