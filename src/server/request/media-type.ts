/** Parses media types from the `content-type` of a request. */

/** A parameter with its separator. Sticky: each match continues where the last one ended. */
const PARAMETER = /\s*;\s*[\w!#$%&'*+\-.^`|~]+\s*=\s*(?:[\w!#$%&'*+\-.^`|~]+|"(?:[^"\\\r\n]|\\[^\r\n])*")/y;

/**
 * The media type in lower case without parameters. Undefined if the parameters are malformed, as in Go's `mime`
 * parser.
 */
export function findMediaType(header: string): string | undefined {
  const at = header.indexOf(";");
  if (at < 0) return header.trim().toLowerCase();
  let end = at;
  PARAMETER.lastIndex = at;
  while (PARAMETER.test(header)) end = PARAMETER.lastIndex;
  const rest = header.slice(end).trim();
  return rest === "" || rest === ";" ? header.slice(0, at).trim().toLowerCase() : undefined;
}

/** The media type of a patch: the text before the semicolon, unchanged, as upstream reads it. */
export function patchMediaType(header: string | undefined): string {
  if (header === undefined) return "";
  const at = header.indexOf(";");
  return at > 0 ? header.slice(0, at) : header;
}
