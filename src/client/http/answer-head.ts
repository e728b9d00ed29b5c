/** What the headers of an answer say. */
import type { IncomingHttpHeaders } from "node:http";

/** `299 - "text"`, several with commas between; quotes within are escaped. */
const WARNING = /\d{3} \S+ "((?:[^"\\]|\\.)*)"/g;

export function warningsIn({ warning }: Pick<IncomingHttpHeaders, "warning">): readonly string[] {
  if (warning === undefined) return [];
  return [...warning.matchAll(WARNING)].map(([, quoted = ""]) => quoted.replaceAll(/\\(.)/g, "$1"));
}

/** Undefined also when the server names a date, which none of ours does. */
export function retryAfterIn(headers: IncomingHttpHeaders): number | undefined {
  const text = headers["retry-after"] ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
