/** Requests to a kubelet that differ from those of the client. They have no body. */
import type { AcceptedRequest } from "../request/http.ts";

/** A request for text. As upstream, the kubelet gets no header of the client. */
export function asText(request: AcceptedRequest): AcceptedRequest {
  return { ...bodyless(request), headers: new Map([["accept", "*/*"]]) };
}

/** The request of a WebSocket client as one for SPDY, which has no handshake of its own. */
export function asSpdy(request: AcceptedRequest, protocol: string): AcceptedRequest {
  const kept = [...request.headers].filter(([name]) => !name.startsWith("sec-websocket-"));
  const headers = new Map([...kept, ["upgrade", "SPDY/3.1"], ["x-stream-protocol-version", protocol]]);
  return { ...bodyless(request), headers, isUpgrade: true };
}

function bodyless({ peer, signal }: AcceptedRequest): Omit<AcceptedRequest, "headers"> {
  return { peer, signal, readBody: () => Promise.resolve(new Uint8Array()) };
}
