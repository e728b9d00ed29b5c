/** Programs in browsers cannot send an `authorization` with a WebSocket: they name their token as one of the protocols they speak. */
import { unauthorized } from "../../api/errors/api-error.ts";

const PREFIX = "base64url.bearer.authorization.k8s.io.";

export function findSocketToken(headers: ReadonlyMap<string, string>): string | undefined {
  if (headers.get("upgrade")?.toLowerCase() !== "websocket") return undefined;
  const protocols = protocolsIn(headers.get("sec-websocket-protocol") ?? "");
  const named = protocols.filter(isToken);
  const [first] = named;
  if (first === undefined || first === PREFIX) return undefined;
  // Without another one there is nothing that the two sides could speak; of two, nobody could say which counts.
  if (named.length > 1 || protocols.length < 2) throw unauthorized();
  return Buffer.from(first.slice(PREFIX.length), "base64url").toString();
}

/** The protocols that a header names, without a token: that is nobody else's business. */
export function spokenProtocols(header = ""): readonly string[] {
  return protocolsIn(header).filter((name) => name !== "" && !isToken(name));
}

function protocolsIn(value: string): readonly string[] {
  return value.split(",").map((name) => name.trim());
}

function isToken(protocol: string): boolean {
  return protocol.startsWith(PREFIX);
}
