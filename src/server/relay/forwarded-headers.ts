/** Separates headers to forward from those of a single connection, in requests and responses. */
import type { AcceptedRequest } from "../request/http.ts";
import type { User } from "../request/user.ts";
import { spokenProtocols } from "../request/websocket-token.ts";

export type HeaderFields = Readonly<Record<string, string | readonly string[]>>;

/** Headers that are never forwarded, whatever `connection` lists (RFC 9110, 7.6.1). */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  "connection",
  "expect",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Headers with credentials or identity of this server's users. Another server must neither see nor trust them. */
const OF_IDENTITY = /^(?:authorization$|impersonate-|x-remote-)/;

/** Permissions for pages of other sites. Only this server may grant them for its own address. */
const OF_ORIGIN = /^access-control-allow-(?:credentials|headers|methods|origin)$/;

/** Header of a WebSocket. One of its protocols may be a token. */
const PROTOCOLS = "sec-websocket-protocol";

/** Addresses of the client and of each proxy on the way. */
const SENDERS = "x-forwarded-for";

/** Request headers to forward. The caller sets the host and the headers for body length and upgrade. */
export function forwardedRequestHeaders({ headers, remoteAddress }: AcceptedRequest): Record<string, string> {
  const dropped = namedBy(headers.get("connection"));
  const kept: Record<string, string> = {};
  for (const [name, value] of headers) {
    const isDropped = OF_CONNECTION.has(name) || OF_IDENTITY.test(name) || dropped.has(name);
    if (!isDropped && name !== "host" && name !== "content-length") kept[name] = value;
  }
  const protocols = kept[PROTOCOLS];
  if (protocols !== undefined) kept[PROTOCOLS] = spokenProtocols(protocols).join(", ");
  if (remoteAddress !== undefined) kept[SENDERS] = appended(kept[SENDERS], remoteAddress);
  return kept;
}

/** Headers that name the user to the extension server, as in its requestheader configuration. */
export function identityHeaders({ name, uid, groups, extra }: User): HeaderFields {
  const fields: Record<string, string | readonly string[]> = { "x-remote-user": wireText(name) };
  if (uid !== "") fields["x-remote-uid"] = wireText(uid);
  if (groups.length > 0) fields["x-remote-group"] = groups.map(wireText);
  for (const [key, values] of Object.entries(extra))
    fields[`x-remote-extra-${escapedKey(key)}`] = values.map(wireText);
  return fields;
}

/** Response headers to forward. `list` alternates names and values as sent. */
export function forwardedAnswerHeaders(list: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (let at = 0; at + 1 < list.length; at += 2) {
    const name = (list[at] ?? "").toLowerCase();
    const before = headers.get(name);
    const value = list[at + 1] ?? "";
    // A cookie may contain commas, so several cannot be joined. Only the first is kept.
    if (before === undefined) headers.set(name, value);
    else if (name !== "set-cookie") headers.set(name, `${before}, ${value}`);
  }
  const dropped = namedBy(headers.get("connection"));
  for (const name of [...headers.keys()])
    if (OF_CONNECTION.has(name) || OF_ORIGIN.test(name) || dropped.has(name)) headers.delete(name);
  return headers;
}

function appended(list: string | undefined, entry: string): string {
  return list === undefined ? entry : `${list}, ${entry}`;
}

function namedBy(connection = ""): ReadonlySet<string> {
  return new Set(connection.split(",").map((name) => name.trim().toLowerCase()));
}

/** Header values are sent as bytes: non-ASCII characters as UTF-8. */
function wireText(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** Percent-encodes characters that a header name cannot contain. The other server decodes them. */
function escapedKey(key: string): string {
  const bytes = Buffer.from(key.toLowerCase(), "utf8").toString("latin1");
  return bytes.replace(/[^!#$&'*+.^_`|~0-9a-z-]/g, (character) => {
    const code = character.charCodeAt(0).toString(16).toUpperCase();
    return `%${code.padStart(2, "0")}`;
  });
}
