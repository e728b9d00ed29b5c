/** Browsers cannot send `authorization` with a WebSocket, so they pass the token as one of the subprotocols. */
import { unauthorized } from "../../api/errors/api-error.ts";

const PREFIX = "base64url.bearer.authorization.k8s.io.";

export function findSocketToken(headers: ReadonlyMap<string, string>): string | undefined {
  if (headers.get("upgrade")?.toLowerCase() !== "websocket") return undefined;
  const protocols = protocolsIn(headers.get("sec-websocket-protocol") ?? "");
  const named = protocols.filter(isToken);
  const [first] = named;
  if (first === undefined || first === PREFIX) return undefined;
  // A token alone leaves no protocol to speak; with two tokens it is unclear which one counts.
  if (named.length > 1 || protocols.length < 2) throw unauthorized();
  return Buffer.from(first.slice(PREFIX.length), "base64url").toString();
}

/** The subprotocols of a header without the token, which must not reach other servers. */
export function spokenProtocols(header = ""): readonly string[] {
  return protocolsIn(header).filter((name) => name !== "" && !isToken(name));
}

function protocolsIn(value: string): readonly string[] {
  return value.split(",").map((name) => name.trim());
}

function isToken(protocol: string): boolean {
  return protocol.startsWith(PREFIX);
}
