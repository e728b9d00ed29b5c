/**
 * Parses DER (X.690), the encoding of certificates and certificate requests. The parser is strict: each value has one
 * encoding, so that two parsers of the same bytes cannot see different values. Throws a SyntaxError with the reason.
 */

/** Tags of the types in certificate requests. */
export const DER = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectId: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  ia5String: 0x16,
  sequence: 0x30,
  set: 0x31,
} as const;

export interface DerValue {
  readonly tag: number;
  readonly content: Buffer;
  /** The value with its tag and length. */
  readonly bytes: Buffer;
}

/** A first byte from here on holds the number of bytes of the length. */
const LONG_LENGTH = 0x80;
/** Enough for 16 MB; requests are far smaller. */
const LENGTH_BYTES_MAX = 3;
/** Marks a tag whose number does not fit into the first byte. */
const LONG_TAG = 0x1f;

/** Parses the bytes as one value. Trailing bytes are an error. */
export function readDer(bytes: Buffer, tag: number): DerValue {
  const value = valueAt(bytes, 0);
  if (value.bytes.length !== bytes.length) throw new SyntaxError("trailing data");
  return expectTag(value, tag);
}

/** The members of a sequence, set or other constructed value. */
export function derMembers({ content }: DerValue): readonly DerValue[] {
  const members: DerValue[] = [];
  for (let at = 0; at < content.length; at += members.at(-1)?.bytes.length ?? 0)
    members.push(valueAt(content, at));
  return members;
}

export function expectTag(value: DerValue | undefined, tag: number): DerValue {
  if (value === undefined) throw new SyntaxError(`expected tag ${hex(tag)}, found the end`);
  if (value.tag !== tag) throw new SyntaxError(`expected tag ${hex(tag)}, found ${hex(value.tag)}`);
  return value;
}

function valueAt(bytes: Buffer, at: number): DerValue {
  const [tag, first] = [bytes[at], bytes[at + 1]];
  if (tag === undefined || first === undefined) throw new SyntaxError("truncated data");
  if ((tag & LONG_TAG) === LONG_TAG) throw new SyntaxError("unsupported tag");
  const lengthBytes = first < LONG_LENGTH ? 0 : first - LONG_LENGTH;
  const begin = at + 2 + lengthBytes;
  const end = begin + (lengthBytes === 0 ? first : longLength(bytes.subarray(at + 2, begin), lengthBytes));
  if (end > bytes.length) throw new SyntaxError("truncated data");
  return { tag, content: bytes.subarray(begin, end), bytes: bytes.subarray(at, end) };
}

function longLength(bytes: Buffer, count: number): number {
  // Zero length bytes mean BER's indefinite length.
  if (count === 0 || count > LENGTH_BYTES_MAX) throw new SyntaxError("unsupported length");
  if (bytes.length < count) throw new SyntaxError("truncated data");
  const length = bytes.readUIntBE(0, count);
  if (length < LONG_LENGTH || bytes[0] === 0) throw new SyntaxError("non-minimal length");
  return length;
}

/** Payload bits in a byte of an object identifier. The highest bit means that another byte follows. */
const ID_BITS = 7;
const ID_MORE = 0x80;
/** The first number combines two arcs: the first times 40, plus the second. */
const ROOT_ARCS = 40;
const LAST_ROOT = 2;

/** The object identifier as text: `2.5.4.10`. */
export function derObjectId(value: DerValue | undefined): string {
  const { content } = expectTag(value, DER.objectId);
  const arcs: number[] = [];
  let arc = 0;
  for (const [at, byte] of content.entries()) {
    const isFirst = at === 0 || ((content[at - 1] ?? 0) & ID_MORE) === 0;
    if (isFirst && byte === ID_MORE) throw new SyntaxError("non-minimal object identifier");
    arc = arc * 2 ** ID_BITS + (byte & (ID_MORE - 1));
    if (!Number.isSafeInteger(arc)) throw new SyntaxError("object identifier out of range");
    if ((byte & ID_MORE) !== 0) continue;
    arcs.push(arc);
    arc = 0;
  }
  const [first, ...others] = arcs;
  if (first === undefined || ((content.at(-1) ?? 0) & ID_MORE) !== 0)
    throw new SyntaxError("truncated object identifier");
  const root = Math.min(Math.floor(first / ROOT_ARCS), LAST_ROOT);
  return [root, first - root * ROOT_ARCS, ...others].join(".");
}

function hex(tag: number): string {
  return `0x${tag.toString(16)}`;
}
