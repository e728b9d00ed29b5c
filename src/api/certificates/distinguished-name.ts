/** Parses the subject of a certificate request: a distinguished name (RFC 5280, 4.1.2.4). The parser is strict. */
import { isAscii, isUtf8 } from "node:buffer";
import { DER, derMembers, derObjectId, expectTag } from "./der.ts";
import type { DerValue } from "./der.ts";

export interface NameAttribute {
  /** Object identifier: `2.5.4.10`. */
  readonly type: string;
  readonly value: string;
}

export const COMMON_NAME = "2.5.4.3";
export const ORGANIZATION = "2.5.4.10";

/**
 * The attributes of a name in order; multi-valued parts are flattened. Only UTF8String, PrintableString and IA5String
 * are valid. Other encodings throw a SyntaxError, because certificate parsers disagree about them.
 */
export function readName(name: DerValue): readonly NameAttribute[] {
  return derMembers(expectTag(name, DER.sequence)).flatMap((part) =>
    derMembers(expectTag(part, DER.set)).map(readAttribute),
  );
}

function readAttribute(attribute: DerValue): NameAttribute {
  const [id, value, ...others] = derMembers(expectTag(attribute, DER.sequence));
  if (value === undefined || others.length > 0) throw new SyntaxError("malformed subject attribute");
  const type = derObjectId(id);
  return { type, value: textOf(value, type) };
}

function textOf({ tag, content }: DerValue, type: string): string {
  const isText = TEXTS.get(tag);
  if (isText === undefined) {
    const found = OTHER_TEXTS.get(tag) ?? `value with tag 0x${tag.toString(16)}`;
    throw new SyntaxError(
      `subject attribute ${type} is a ${found}; use UTF8String, PrintableString or IA5String`,
    );
  }
  // C programs end a string at its first zero byte.
  if (!isText(content) || content.includes(0))
    throw new SyntaxError(`subject attribute ${type} is not valid text`);
  return content.toString("utf8");
}

const PRINTABLE = /^[A-Za-z0-9 '()+,\-./:=?*&]*$/;

/** Validates the bytes of each text type, by tag. All three types are subsets of UTF-8. */
const TEXTS: ReadonlyMap<number, (content: Buffer) => boolean> = new Map<
  number,
  (content: Buffer) => boolean
>([
  [DER.utf8String, isUtf8],
  [DER.printableString, (content) => PRINTABLE.test(content.toString("latin1"))],
  [DER.ia5String, isAscii],
]);

/** Names of the other text types, for the error message. */
const OTHER_TEXTS: ReadonlyMap<number, string> = new Map([
  [0x12, "NumericString"],
  [0x14, "TeletexString"],
  [0x15, "VideotexString"],
  [0x19, "GraphicString"],
  [0x1a, "VisibleString"],
  [0x1b, "GeneralString"],
  [0x1c, "UniversalString"],
  [0x1e, "BMPString"],
]);
