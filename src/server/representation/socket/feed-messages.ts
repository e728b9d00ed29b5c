/** Cuts the pieces of a watch into messages: a line of JSON is a message of text, a frame of protobuf a binary one. */

const LINE_FEED = 0x0a;
/** Length in front of a protobuf frame. */
const LENGTH_BYTES = 4;

export class FeedMessages {
  readonly #type: "text" | "binary";
  #rest: Buffer = Buffer.alloc(0);

  constructor(type: "text" | "binary") {
    this.#type = type;
  }

  /** The messages that are complete with this piece. */
  *take(piece: Uint8Array): Generator<string | Buffer> {
    let bytes = Buffer.concat([this.#rest, piece]);
    for (;;) {
      const end = this.#endOf(bytes);
      if (end === undefined || end > bytes.byteLength) break;
      if (this.#type === "text") yield bytes.toString("utf8", 0, end);
      else yield bytes.subarray(LENGTH_BYTES, end);
      bytes = bytes.subarray(end);
    }
    this.#rest = bytes;
  }

  #endOf(bytes: Buffer): number | undefined {
    if (this.#type === "binary")
      return bytes.byteLength < LENGTH_BYTES ? undefined : LENGTH_BYTES + bytes.readUInt32BE();
    const at = bytes.indexOf(LINE_FEED);
    return at < 0 ? undefined : at + 1;
  }
}
