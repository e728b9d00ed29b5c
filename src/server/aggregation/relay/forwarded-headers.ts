/** Which headers of a request and of its answer are meant for whoever is at the end, and which for this connection only. */
import type { AcceptedRequest } from "../../request/http.ts";
import type { User } from "../../request/user.ts";
import { spokenProtocols } from "../../request/websocket-token.ts";

export type HeaderFields = Readonly<Record<string, string | readonly string[]>>;

/** Of one connection, whatever `connection` says (RFC 9110, 7.6.1). */
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

/** What proves to this server who somebody is, or says on whose behalf they ask: nobody else may see or believe it. */
const OF_IDENTITY = /^(?:authorization$|impersonate-|x-remote-)/;

/** Of a WebSocket. One of them may be a token. */
const PROTOCOLS = "sec-websocket-protocol";

/** Of a request as it was sent. Bodies with their length and upgrades are the caller's business; so is the host. */
export function forwardedRequestHeaders({ headers }: AcceptedRequest): Record<string, string> {
  const dropped = namedBy(headers.get("connection"));
  const kept: Record<string, string> = {};
  for (const [name, value] of headers) {
    const isDropped = OF_CONNECTION.has(name) || OF_IDENTITY.test(name) || dropped.has(name);
    if (!isDropped && name !== "host" && name !== "content-length") kept[name] = value;
  }
  const protocols = kept[PROTOCOLS];
  if (protocols !== undefined) kept[PROTOCOLS] = spokenProtocols(protocols).join(", ");
  return kept;
}

/** How an extension server is told who asks, in the words of its own configuration. */
export function identityHeaders({ name, uid, groups, extra }: User): HeaderFields {
  const fields: Record<string, string | readonly string[]> = { "x-remote-user": wireText(name) };
  if (uid !== "") fields["x-remote-uid"] = wireText(uid);
  if (groups.length > 0) fields["x-remote-group"] = groups.map(wireText);
  for (const [key, values] of Object.entries(extra))
    fields[`x-remote-extra-${escapedKey(key)}`] = values.map(wireText);
  return fields;
}

/** Of an answer. `list` has names and values in turn, as they were sent. */
export function forwardedAnswerHeaders(list: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (let at = 0; at + 1 < list.length; at += 2) {
    const name = (list[at] ?? "").toLowerCase();
    const before = headers.get(name);
    const value = list[at + 1] ?? "";
    // A cookie may hold commas: of several only one can be told.
    if (before === undefined) headers.set(name, value);
    else if (name !== "set-cookie") headers.set(name, `${before}, ${value}`);
  }
  const dropped = namedBy(headers.get("connection"));
  for (const name of [...headers.keys()])
    if (OF_CONNECTION.has(name) || dropped.has(name)) headers.delete(name);
  return headers;
}

function namedBy(connection = ""): ReadonlySet<string> {
  return new Set(connection.split(",").map((name) => name.trim().toLowerCase()));
}

/** Header values go out byte by byte; what is not ASCII goes as UTF-8. */
function wireText(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** Percent signs and what no name of a header may have; servers undo it. */
function escapedKey(key: string): string {
  const bytes = Buffer.from(key.toLowerCase(), "utf8").toString("latin1");
  return bytes.replace(/[^!#$&'*+.^_`|~0-9a-z-]/g, (character) => {
    const code = character.charCodeAt(0).toString(16).toUpperCase();
    return `%${code.padStart(2, "0")}`;
  });
}
