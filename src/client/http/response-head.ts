/** Reads the headers of a response. */
import type { IncomingHttpHeaders } from "node:http";

/** `299 - "text"`; several are separated by commas, and quotes within are escaped. */
const WARNING = /\d{3} \S+ "((?:[^"\\]|\\.)*)"/g;

export function warningsIn({ warning }: Pick<IncomingHttpHeaders, "warning">): readonly string[] {
  if (warning === undefined) return [];
  return [...warning.matchAll(WARNING)].map(([, quoted = ""]) => quoted.replaceAll(/\\(.)/g, "$1"));
}

/** Undefined for a date too; Kubernetes servers send seconds. */
export function retryAfterIn(headers: IncomingHttpHeaders): number | undefined {
  const text = headers["retry-after"] ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
