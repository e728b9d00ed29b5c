/** Headers of a request as the server sees them: lower-case names, repeated headers joined. */
import type { IncomingHttpHeaders } from "node:http2";

/** From names and values in turn, as HTTP/1.1 has them. */
export function headersFromList(raw: readonly string[]): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] ?? "").toLowerCase();
    const value = raw[at + 1] ?? "";
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return headers;
}

/** Each value of one header, from names and values in turn. */
export function headerValues(raw: readonly string[], name: string): readonly string[] {
  const values: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    if (raw[at]?.toLowerCase() === name) values.push(raw[at + 1] ?? "");
  }
  return values;
}

/**
 * From HTTP/2's, which Node has joined; of those that make no sense twice, such as `authorization`, it keeps the first.
 * Pseudo-headers are left out, and `:authority` reads as `host`.
 */
export function headersFromFields(fields: IncomingHttpHeaders): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (const name in fields) {
    const value = fields[name];
    const text = Array.isArray(value) ? value.join(", ") : (value ?? "");
    if (name === ":authority") headers.set("host", text);
    else if (!name.startsWith(":")) headers.set(name, text);
  }
  return headers;
}
