/** Headers of a request as the server sees them: lower-case names, repeated headers joined. */
import type { IncomingHttpHeaders } from "node:http2";

/** Converts HTTP/1.1 headers, a list in which names and values alternate. */
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

/** Each value of one header, from a list in which names and values alternate. */
export function headerValues(raw: readonly string[], name: string): readonly string[] {
  const values: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    if (raw[at]?.toLowerCase() === name) values.push(raw[at + 1] ?? "");
  }
  return values;
}

/**
 * Converts HTTP/2 headers. Node has joined repeated ones, and keeps only the first of single-value headers such as
 * `authorization`. Pseudo-headers are left out; `:authority` becomes `host`.
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
