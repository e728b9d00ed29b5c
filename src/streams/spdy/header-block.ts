/**
 * Headers of streams as SPDY/3 sends them: names and values with their lengths, in one zlib stream for all blocks of a
 * connection. The writer uses stored blocks, which every inflater reads, so a connection holds no native compressor.
 */
import { constants, inflateRawSync } from "node:zlib";
import { DICTIONARY_ID, HEADER_DICTIONARY } from "./header-dictionary.ts";
import { SpdyError } from "./spdy-error.ts";

/** Lower-case names. Several values of one name are joined with a NUL character. */
export type SpdyHeaders = ReadonlyMap<string, string>;

/** Upper bound of an inflated block. Kubernetes sends some hundred bytes. */
const BLOCK_BYTES_MAX = 64 * 1024;
const HEADERS_MAX = 256;
/** Distance that a compressed block can refer back. */
const WINDOW_BYTES = 32 * 1024;
/** Start of a zlib stream without dictionary and with the window of 32 KiB. */
const ZLIB_START = Buffer.from([0x78, 0x01]);
const STORED_BYTES_MAX = 0xff_ff;
/** An empty stored block. Go's inflater hands out what it has read only when it sees one. */
const FLUSH = Buffer.from([0, 0, 0, 0xff, 0xff]);

export class HeaderWriter {
  #isStarted = false;

  write(headers: SpdyHeaders): Buffer {
    const block = plainBlock(headers);
    const pieces: Buffer[] = this.#isStarted ? [] : [ZLIB_START];
    this.#isStarted = true;
    for (let at = 0; at < block.byteLength; at += STORED_BYTES_MAX) {
      const piece = block.subarray(at, at + STORED_BYTES_MAX);
      const head = Buffer.alloc(5);
      head.writeUInt16LE(piece.byteLength, 1);
      head.writeUInt16LE(~piece.byteLength & 0xff_ff, 3);
      pieces.push(head, piece);
    }
    return Buffer.concat([...pieces, FLUSH]);
  }
}

/**
 * Each block ends at a whole byte, so it is inflated on its own. The bytes inflated before serve as its dictionary, which is
 * the state that a running inflater would have kept.
 */
export class HeaderReader {
  #window: Buffer | undefined;

  /** Throws SpdyError for a malformed or too long block. */
  read(block: Buffer): SpdyHeaders {
    const window = this.#window ?? HEADER_DICTIONARY;
    const plain = inflated(this.#window === undefined ? withoutStart(block) : block, window);
    this.#window = Buffer.concat([window, plain]).subarray(-WINDOW_BYTES);
    return parsedBlock(plain);
  }
}

/** Removes the head of the zlib stream, with the number of its dictionary. */
function withoutStart(block: Buffer): Buffer {
  const isSound =
    block.byteLength >= 2 && (block.readUInt8(0) & 0x0f) === 8 && block.readUInt16BE(0) % 31 === 0;
  if (!isSound) throw new SpdyError("expected a zlib stream of headers");
  const usesDictionary = (block.readUInt8(1) & 0x20) !== 0;
  if (!usesDictionary) return block.subarray(2);
  if (block.byteLength < 6 || block.readUInt32BE(2) !== DICTIONARY_ID)
    throw new SpdyError("expected the dictionary of SPDY/3");
  return block.subarray(6);
}

function inflated(block: Buffer, dictionary: Buffer): Buffer {
  try {
    return inflateRawSync(block, {
      dictionary,
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: BLOCK_BYTES_MAX,
    });
  } catch (error) {
    throw new SpdyError("expected a compressed block of headers", { cause: error });
  }
}

function plainBlock(headers: SpdyHeaders): Buffer {
  const texts = [...headers].flatMap(([name, value]) => [counted(name.toLowerCase()), counted(value)]);
  return Buffer.concat([uint32(headers.size), ...texts]);
}

function counted(text: string): Buffer {
  const bytes = Buffer.from(text, "utf8");
  return Buffer.concat([uint32(bytes.byteLength), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function parsedBlock(block: Buffer): SpdyHeaders {
  let at = 0;
  const number = (): number => {
    if (at + 4 > block.byteLength) throw new SpdyError("a block of headers ends early");
    at += 4;
    return block.readUInt32BE(at - 4);
  };
  const text = (): string => {
    const length = number();
    if (at + length > block.byteLength) throw new SpdyError("a block of headers ends early");
    at += length;
    return block.toString("utf8", at - length, at);
  };
  const count = number();
  if (count > HEADERS_MAX) throw new SpdyError(`expected at most ${HEADERS_MAX} headers, found ${count}`);
  const headers = new Map<string, string>();
  for (let left = count; left > 0; left--) headers.set(text().toLowerCase(), text());
  return headers;
}
