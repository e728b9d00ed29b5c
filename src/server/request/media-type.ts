/** Media types in headers: the one of `content-type`, and the clauses of `accept`. */

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

/** A media type that a client accepts. */
export interface AcceptClause {
  /** For example `application/json`; either part may be `*`. Case-sensitive, as upstream. */
  readonly mediaType: string;
  readonly parameters: ReadonlyMap<string, string>;
}

interface RankedClause extends AcceptClause {
  readonly quality: number;
}

/**
 * Sorted by descending quality, then exact types before wildcards, then as written. As upstream, quality 0 is the last
 * choice and not an exclusion, and quoted parameters are not supported.
 */
export function parseAccept(header: string): readonly AcceptClause[] {
  return header
    .split(",")
    .map(parseClause)
    .filter(({ mediaType }) => mediaType !== "")
    .toSorted((left, right) => right.quality - left.quality || wildness(left) - wildness(right));
}

/** Whether the clause matches `offered`, a type without wildcards. */
export function asksFor({ mediaType }: AcceptClause, offered: string): boolean {
  if (mediaType === offered || mediaType === "*/*" || mediaType === "*") return true;
  return mediaType.endsWith("/*") && offered.startsWith(mediaType.slice(0, -1));
}

function parseClause(text: string): RankedClause {
  const [type = "", ...rest] = text.split(";");
  const parameters = new Map<string, string>();
  for (const parameter of rest) {
    const at = parameter.indexOf("=");
    // A parameter with a second `=` is ignored, as upstream.
    if (at < 0 || parameter.includes("=", at + 1)) continue;
    const name = parameter.slice(0, at).trim();
    const value = parameter.slice(at + 1);
    parameters.set(name, name === "q" ? value : value.trim());
  }
  const quality = qualityOf(parameters.get("q"));
  parameters.delete("q");
  return { mediaType: type.trim(), parameters, quality };
}

/** A quality that is not a number counts as 0, as upstream; surrounding spaces make it invalid. */
function qualityOf(text: string | undefined): number {
  if (text === undefined || text === "") return 1;
  const quality = text.trim() === text ? Number(text) : 0;
  return Number.isNaN(quality) ? 0 : quality;
}

function wildness({ mediaType }: AcceptClause): number {
  if (mediaType.startsWith("*")) return 2;
  return mediaType.endsWith("/*") ? 1 : 0;
}
