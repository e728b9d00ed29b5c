/** Extracts the reason of a failed connection, which gRPC wraps into terms of its own. */

const BEFORE = "Last error: ";
const AFTER = ". Resolution note: ";

export function plainReason(details: string): string {
  const start = details.indexOf(BEFORE);
  const end = details.lastIndexOf(AFTER);
  if (start < 0 || end < start) return details;
  const said = details.slice(start + BEFORE.length, end);
  return said.startsWith("Error: ") ? said.slice("Error: ".length) : said;
}
