/** Blocks of PEM (RFC 7468) in a text. What is no block is passed over, as upstream's reader does. */

export interface PemBlock {
  /** `CERTIFICATE` and the like. */
  readonly label: string;
  readonly hasHeaders: boolean;
  readonly bytes: Buffer;
}

const BEGIN = "-----BEGIN ";
const END = "\n-----END ";
const DASHES = "-----";
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Goes on behind the end of each block that it has looked at: the time it takes grows with the text, and no faster. */
export function* pemBlocks(text: string): Generator<PemBlock> {
  for (let from = 0; ;) {
    const begin = text.indexOf(BEGIN, from);
    const lineEnd = begin < 0 ? -1 : text.indexOf("\n", begin);
    const end = lineEnd < 0 ? -1 : text.indexOf(END, lineEnd);
    if (end < 0) return;
    const label = labelIn(text.slice(begin + BEGIN.length, lineEnd));
    const isClosed = label !== undefined && text.startsWith(`${label}${DASHES}`, end + END.length);
    const isAtLineStart = begin === 0 || text[begin - 1] === "\n";
    const block = isClosed && isAtLineStart ? blockOf(label, text.slice(lineEnd + 1, end)) : undefined;
    if (block !== undefined) yield block;
    from = end + END.length;
  }
}

function labelIn(line: string): string | undefined {
  const trimmed = line.trimEnd();
  return trimmed.endsWith(DASHES) ? trimmed.slice(0, -DASHES.length) : undefined;
}

function blockOf(label: string, content: string): PemBlock | undefined {
  const lines = content.split("\n");
  const firstOfBody = lines.findIndex((line) => !line.includes(":"));
  const hasHeaders = firstOfBody > 0;
  const body = (hasHeaders ? lines.slice(firstOfBody) : lines).join("").replaceAll(/\s/g, "");
  return BASE64.test(body) ? { label, hasHeaders, bytes: Buffer.from(body, "base64") } : undefined;
}
