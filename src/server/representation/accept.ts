/** The Accept header, in the order in which its clauses are tried. */

export interface AcceptClause {
  /** `application/json`; either part may be `*`. Upper case is another type, as upstream has it. */
  readonly mediaType: string;
  readonly parameters: ReadonlyMap<string, string>;
}

interface RankedClause extends AcceptClause {
  readonly quality: number;
}

/**
 * By falling quality, then those that name a type before wildcards, then as written. Quality 0 is the last choice, not
 * none, as upstream has it. Quoted parameters are not understood, as upstream does not.
 */
export function parseAccept(header: string): readonly AcceptClause[] {
  return header
    .split(",")
    .map(parseClause)
    .filter(({ mediaType }) => mediaType !== "")
    .toSorted((left, right) => right.quality - left.quality || wildness(left) - wildness(right));
}

/** Whether the clause asks for this type, given without wildcards. */
export function asksFor({ mediaType }: AcceptClause, offered: string): boolean {
  if (mediaType === offered || mediaType === "*/*" || mediaType === "*") return true;
  return mediaType.endsWith("/*") && offered.startsWith(mediaType.slice(0, -1));
}

function parseClause(text: string): RankedClause {
  const [type = "", ...rest] = text.split(";");
  const parameters = new Map<string, string>();
  for (const parameter of rest) {
    const at = parameter.indexOf("=");
    // With another sign it is left out, as upstream does.
    if (at < 0 || parameter.includes("=", at + 1)) continue;
    const name = parameter.slice(0, at).trim();
    const value = parameter.slice(at + 1);
    parameters.set(name, name === "q" ? value : value.trim());
  }
  const quality = qualityOf(parameters.get("q"));
  parameters.delete("q");
  return { mediaType: type.trim(), parameters, quality };
}

/** What is no number counts as 0, as upstream has it; a space before one makes it none. */
function qualityOf(text: string | undefined): number {
  if (text === undefined || text === "") return 1;
  const quality = text.trim() === text ? Number(text) : 0;
  return Number.isNaN(quality) ? 0 : quality;
}

function wildness({ mediaType }: AcceptClause): number {
  if (mediaType.startsWith("*")) return 2;
  return mediaType.endsWith("/*") ? 1 : 0;
}
