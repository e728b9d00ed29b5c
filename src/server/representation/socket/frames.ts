/** Writes message frames of the WebSocket protocol (RFC 6455), and reads only control frames from the client. */
import { createHash } from "node:crypto";

/** RFC 6455: the server appends this to the client's key to prove that it knows the protocol. */
const KNOWN_TO_ALL = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

const OPCODES = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;
/** First opcode of control frames, which are short and never fragmented. */
const CONTROL = 8;
const CONTROL_BYTES_MAX = 125;
const LAST = 0x80;
const MASKED = 0x80;
const MASK_BYTES = 4;
/** Length values that announce a length in the next two or eight bytes. */
const SHORT_LENGTH = 126;
const LONG_LENGTH = 127;

export function acceptKey(key: string): string {
  return createHash("sha1")
    .update(key + KNOWN_TO_ALL)
    .digest("base64");
}

/** A whole message from the server, so not masked. */
export function serverFrame(type: keyof typeof OPCODES, content: Uint8Array): Buffer {
  const { byteLength } = content;
  const first = LAST | OPCODES[type];
  if (byteLength < SHORT_LENGTH) return Buffer.concat([Buffer.from([first, byteLength]), content]);
  const isShort = byteLength <= 0xff_ff;
  const head = Buffer.alloc(isShort ? 4 : 10);
  head.writeUInt8(first, 0);
  head.writeUInt8(isShort ? SHORT_LENGTH : LONG_LENGTH, 1);
  if (isShort) head.writeUInt16BE(byteLength, 2);
  else head.writeBigUInt64BE(BigInt(byteLength), 2);
  return Buffer.concat([head, content]);
}

interface ControlFrame {
  /** `broken`: the bytes violate the protocol, and later ones cannot be parsed. */
  readonly type: "close" | "ping" | "pong" | "broken";
  readonly content: Uint8Array;
}

const BROKEN: ControlFrame = { type: "broken", content: new Uint8Array() };
const CONTROL_TYPES = new Map<number, ControlFrame["type"]>([
  [OPCODES.close, "close"],
  [OPCODES.ping, "ping"],
  [OPCODES.pong, "pong"],
]);

/** Finds control frames in the bytes from a client; skips messages without buffering them. */
export class ClientFrames {
  /** Bytes of an incomplete frame: at most a head and the content of a control frame. */
  #rest: Buffer = Buffer.alloc(0);
  /** Remaining bytes of a skipped message. */
  #bytesToSkip = 0;

  take(chunk: Uint8Array): readonly ControlFrame[] {
    const found: ControlFrame[] = [];
    let rest = Buffer.concat([this.#rest, chunk]);
    for (;;) {
      const skipped = Math.min(this.#bytesToSkip, rest.byteLength);
      this.#bytesToSkip -= skipped;
      rest = rest.subarray(skipped);
      const head = this.#bytesToSkip > 0 ? undefined : findHead(rest);
      if (head === undefined) break;
      if (!isSound(head)) return [...found, BROKEN];
      const whole = head.bytes + head.contentBytes;
      if (head.opcode < CONTROL) {
        this.#bytesToSkip = whole;
        continue;
      }
      if (rest.byteLength < whole) break;
      found.push(controlFrame(head, rest.subarray(0, whole)));
      rest = rest.subarray(whole);
    }
    this.#rest = rest;
    return found;
  }
}

interface Head {
  readonly opcode: number;
  readonly isMasked: boolean;
  /** Length of the head, including the mask. */
  readonly bytes: number;
  readonly contentBytes: number;
}

/** Undefined while the head is incomplete. */
function findHead(bytes: Buffer): Head | undefined {
  if (bytes.byteLength < 2) return undefined;
  const length = bytes.readUInt8(1) & ~MASKED;
  const lengthBytes = length === LONG_LENGTH ? 8 : length === SHORT_LENGTH ? 2 : 0;
  const isMasked = (bytes.readUInt8(1) & MASKED) !== 0;
  const head = 2 + lengthBytes + (isMasked ? MASK_BYTES : 0);
  if (bytes.byteLength < head) return undefined;
  const long = lengthBytes === 8 ? Number(bytes.readBigUInt64BE(2)) : length;
  const contentBytes = lengthBytes === 2 ? bytes.readUInt16BE(2) : long;
  return { opcode: bytes.readUInt8(0) & 0x0f, isMasked, bytes: head, contentBytes };
}

/** Frames from clients must be masked. */
function isSound({ opcode, isMasked, contentBytes }: Head): boolean {
  return isMasked && (opcode < CONTROL || (CONTROL_TYPES.has(opcode) && contentBytes <= CONTROL_BYTES_MAX));
}

function controlFrame({ opcode, bytes }: Head, frame: Buffer): ControlFrame {
  const mask = frame.subarray(bytes - MASK_BYTES, bytes);
  const content = frame.subarray(bytes).map((byte, at) => byte ^ (mask[at % MASK_BYTES] ?? 0));
  return { type: CONTROL_TYPES.get(opcode) ?? "broken", content };
}
