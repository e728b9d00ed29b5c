import { describe, expect, test } from "vitest";
import { acceptKey, ClientFrames, serverFrame } from "./frames.ts";

const MASK = Buffer.from([1, 2, 3, 4]);

/** A masked frame, as clients send it. */
function masked(opcode: number, text: string, lengthBytes: readonly number[] = [text.length]): Buffer {
  const [length = 0, ...rest] = lengthBytes;
  const content = Buffer.from(text).map((byte, at) => byte ^ (MASK[at % 4] ?? 0));
  return Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | length, ...rest]), MASK, content]);
}

describe("frames of a server", () => {
  test("the key of the RFC's example gives the RFC's response", () => {
    expect(acceptKey("dGhlIHNhbXBsZSBub25jZQ==")).toBe("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  });

  test.each([
    [5, [0x81, 5]],
    [125, [0x81, 125]],
    [126, [0x81, 126, 0, 126]],
    [65_536, [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]],
  ])("of %d bytes start with their length", (length, head) => {
    const frame = serverFrame("text", Buffer.alloc(length));

    expect([...frame.subarray(0, head.length)]).toEqual(head);
    expect(frame).toHaveLength(head.length + length);
  });
});

describe("frames of a client", () => {
  const sent = Buffer.concat([
    masked(1, "x".repeat(300), [126, 300 >> 8, 300 & 0xff]),
    masked(9, "there?"),
    masked(2, ""),
    masked(8, "\u0003bye"),
  ]);
  const texts = (frames: ClientFrames, chunks: readonly Buffer[]): readonly string[] =>
    chunks.flatMap((chunk) =>
      frames.take(chunk).map(({ type, content }) => `${type} ${Buffer.from(content).toString()}`),
    );

  test.each([sent.length, 1, 7])("are found in pieces of %d bytes, and messages are skipped", (size) => {
    const chunks: Buffer[] = [];
    for (let at = 0; at < sent.length; at += size) chunks.push(sent.subarray(at, at + size));

    expect(texts(new ClientFrames(), chunks)).toEqual(["ping there?", "close \u0003bye"]);
  });

  test.each([
    ["are not masked", Buffer.from([0x89, 0])],
    ["control with too many bytes", masked(9, "", [126, 1, 0])],
    ["have an unknown type", masked(11, "")],
  ])("that %s are broken", (_, bytes) => {
    expect(texts(new ClientFrames(), [bytes])).toEqual(["broken "]);
  });
});
