/**
 * Translates exec and attach for clients that speak `v5.channel.k8s.io`, the only WebSocket protocol that can close stdin. The
 * kubelet gets SPDY, which every kubelet speaks.
 */
import { badRequest } from "../../api/errors/api-error.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { channelStreams } from "../../streams/remote-command/accept-command.ts";
import { joinCommands } from "../../streams/remote-command/join-commands.ts";
import { spdyStreams } from "../../streams/remote-command/open-command.ts";
import { SPDY_PROTOCOLS, WEBSOCKET_PROTOCOLS } from "../../streams/remote-command/protocols.ts";
import type { CommandOptions, CommandProtocol } from "../../streams/remote-command/protocols.ts";
import { offerWebSocket } from "../../streams/websocket/accept-web-socket.ts";
import type { Relay, RelayPlace } from "../relay/relay.ts";
import type { AcceptedRequest, HttpResponse } from "../request/http.ts";
import { spokenProtocols } from "../request/websocket-token.ts";
import { asSpdy } from "./kubelet-request.ts";

interface Tools {
  readonly relay: Relay;
  readonly loop: Loop;
}

interface TranslatedCommand {
  readonly request: AcceptedRequest;
  readonly place: RelayPlace;
  readonly protocol: CommandProtocol;
  readonly options: CommandOptions;
}

/** The protocol to translate; undefined for requests that pass through. */
export function findCommandProtocol({ headers }: AcceptedRequest): CommandProtocol | undefined {
  if (headers.get("upgrade")?.toLowerCase() !== "websocket") return undefined;
  const requested = spokenProtocols(headers.get("sec-websocket-protocol"));
  return WEBSOCKET_PROTOCOLS.find(({ name, hasClose }) => hasClose && requested.includes(name));
}

/** A refusal of the kubelet is answered as it is. */
export async function translateCommand(
  { request, place, protocol, options }: TranslatedCommand,
  { relay, loop }: Tools,
): Promise<HttpResponse> {
  const nodeProtocol = SPDY_PROTOCOLS.find(({ name }) => name === "v4.channel.k8s.io");
  if (nodeProtocol === undefined) throw new Error("expected the protocol v4.channel.k8s.io");
  const response = await relay.send(asSpdy(request, nodeProtocol.name), { ...place, method: "POST" });
  const { switched } = response;
  if (switched === undefined) return response;
  const connection = { socket: switched.stream, head: switched.head };
  const node = await spdyStreams(connection, { protocol: nodeProtocol, options, loop });
  const { messages, headers, stream } = offerWebSocket(request.headers, protocol.name);
  if (messages === undefined) {
    node.destroy();
    throw badRequest("the request is not a valid WebSocket handshake");
  }
  void joinCommands(channelStreams(messages, options, protocol), node);
  return { status: 101, headers, body: new Uint8Array(), switched: { stream, head: new Uint8Array() } };
}
