/** Finds PEM blocks (RFC 7468) in a text. Other text is skipped, as upstream's parser does. */

export interface PemBlock {
  /** Type of the content, for example `CERTIFICATE`. */
  readonly label: string;
  readonly hasHeaders: boolean;
  readonly bytes: Buffer;
}

const BEGIN = "-----BEGIN ";
const END = "\n-----END ";
const DASHES = "-----";
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Takes linear time, even if many blocks have no end. */
export function* pemBlocks(text: string): Generator<PemBlock> {
  let lineEnd = 0;
  let end = 0;
  let next = 0;
  for (let begin = text.indexOf(BEGIN); begin >= 0; begin = next) {
    next = text.indexOf(BEGIN, begin + 1);
    if (lineEnd <= begin) lineEnd = text.indexOf("\n", begin);
    if (end < lineEnd) end = text.indexOf(END, lineEnd);
    if (lineEnd < 0 || end < 0) return;
    const isBroken = next >= 0 && next < end;
    const isAtLineStart = begin === 0 || text[begin - 1] === "\n";
    const block = isBroken || !isAtLineStart ? undefined : readBlock(text, { begin, lineEnd, end });
    if (block !== undefined) yield block;
  }
}

interface BlockPlace {
  readonly begin: number;
  /** End of the line with the label. */
  readonly lineEnd: number;
  readonly end: number;
}

function readBlock(text: string, { begin, lineEnd, end }: BlockPlace): PemBlock | undefined {
  const label = labelIn(text.slice(begin + BEGIN.length, lineEnd));
  const isClosed = label !== undefined && text.startsWith(`${label}${DASHES}`, end + END.length);
  return isClosed ? blockOf(label, text.slice(lineEnd + 1, Math.max(end, lineEnd + 1))) : undefined;
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
