import { constants, createDeflate } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FrameReader, FrameWriter } from "./frames.ts";
import type { Frame } from "./frames.ts";
import { HeaderReader, HeaderWriter } from "./header-block.ts";
import { HEADER_DICTIONARY } from "./header-dictionary.ts";
import { SpdyError } from "./spdy-error.ts";

type Written = Exclude<Frame, { readonly type: "unknown" }>;

const streamId = fc.integer({ min: 1, max: 0x7f_ff_ff_ff });
const headers = fc
  .dictionary(fc.stringMatching(/^[a-z-]{1,12}$/), fc.string({ maxLength: 40 }), { maxKeys: 5 })
  .map((fields) => new Map(Object.entries(fields)));
const isLast = fc.boolean();
const frame: fc.Arbitrary<Written> = fc.oneof(
  fc.record({ type: fc.constantFrom("open", "reply", "headers"), streamId, isLast, headers }),
  fc.record({
    type: fc.constant("data" as const),
    streamId,
    isLast,
    data: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  }),
  fc.record({ type: fc.constant("reset" as const), streamId, status: fc.nat(9) }),
  fc.record({
    type: fc.constant("settings" as const),
    initialWindow: fc.option(fc.nat(), { nil: undefined }),
  }),
  fc.record({ type: fc.constant("ping" as const), id: fc.nat() }),
  fc.record({ type: fc.constant("go-away" as const), lastStreamId: fc.nat(), status: fc.nat(9) }),
  fc.record({ type: fc.constant("window" as const), streamId, bytes: fc.nat() }),
);

function written(frames: readonly Written[]): Buffer {
  const writer = new FrameWriter();
  return Buffer.concat(
    frames.flatMap((each) => [writer.write(each), each.type === "data" ? each.data : Buffer.alloc(0)]),
  );
}

function readIn(bytes: Buffer, size: number): readonly Frame[] {
  const reader = new FrameReader();
  const found: Frame[] = [];
  for (let at = 0; at < bytes.byteLength; at += size)
    found.push(...reader.read(bytes.subarray(at, at + size)));
  return found;
}

describe("frames", () => {
  test("every frame is read as it was written", () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 20 }), (frames) => {
        expect(readIn(written(frames), Number.MAX_SAFE_INTEGER)).toEqual(frames);
      }),
    );
  });

  test("control frames are read wherever the bytes are cut", () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 10 }), fc.integer({ min: 1, max: 40 }), (frames, size) => {
        const isControl = ({ type }: Frame): boolean => type !== "data";

        expect(readIn(written(frames), size).filter(isControl)).toEqual(frames.filter(isControl));
      }),
    );
  });

  test("data that arrives in pieces is passed on in pieces, and only the last is marked", () => {
    const data = Buffer.from("0123456789");
    const found = readIn(written([{ type: "data", streamId: 1, isLast: true, data }]), 4);

    expect(found.map((each) => (each.type === "data" ? [String(each.data), each.isLast] : each))).toEqual([
      ["0123", false],
      ["4567", false],
      ["89", true],
    ]);
  });

  test("any bytes give frames or a SpdyError, and a bounded rest", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        try {
          readIn(Buffer.from(bytes), 50);
        } catch (error) {
          expect(error).toBeInstanceOf(SpdyError);
        }
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ["another version", "8002000100000000"],
    ["a control frame that is too long", "80030001000fffff"],
    ["a ping without an id", "8003000600000000"],
    ["settings that end early", "80030004000000040000ffff"],
    ["headers that are not compressed", "800300020000000800000001ffffffff"],
  ])("%s is refused", (_name, hex) => {
    expect(() => readIn(Buffer.from(hex, "hex"), 100)).toThrow(SpdyError);
  });
});

describe("headers", () => {
  /** Compresses as Go does: one deflater with the dictionary, flushed behind each block. */
  async function compressed(blocks: readonly Buffer[]): Promise<readonly Buffer[]> {
    const deflate = createDeflate({ dictionary: HEADER_DICTIONARY });
    const found: Buffer[] = [];
    for (const block of blocks) {
      const pieces: Buffer[] = [];
      const take = (piece: Buffer): number => pieces.push(piece);
      deflate.on("data", take).write(block);
      await new Promise<void>((resolve) => deflate.flush(constants.Z_SYNC_FLUSH, resolve));
      deflate.off("data", take);
      found.push(Buffer.concat(pieces));
    }
    return found;
  }

  function block(fields: Readonly<Record<string, string>>): Buffer {
    const number = (value: number): Buffer => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(value);
      return bytes;
    };
    const texts = Object.entries(fields).flat();
    return Buffer.concat([
      number(texts.length / 2),
      ...texts.flatMap((text) => [number(text.length), Buffer.from(text)]),
    ]);
  }

  test("blocks of a compressor that refers to the dictionary and to earlier blocks are read", async () => {
    const fields = ["error", "stdin", "stdout", "resize"].map((streamtype) => ({
      streamtype,
      version: "HTTP/1.1",
    }));
    const reader = new HeaderReader();

    const found = (await compressed(fields.map(block))).map((each) => reader.read(each));

    expect(found.map((each) => Object.fromEntries(each))).toEqual(fields);
  });

  test("each written block ends with an empty stored block, without which Go's inflater keeps the rest", () => {
    const writer = new HeaderWriter();
    const blocks = [0, 1].map(() => writer.write(new Map([["streamtype", "error"]])));

    expect(blocks.map((each) => each.subarray(-5).toString("hex"))).toEqual(["000000ffff", "000000ffff"]);
  });

  test("a block that inflates to more than its bound is refused", async () => {
    const [bomb = Buffer.alloc(0)] = await compressed([block({ a: "x".repeat(1024 * 1024) })]);

    expect(bomb.byteLength).toBeLessThan(5000);
    expect(() => new HeaderReader().read(bomb)).toThrow(SpdyError);
  });
});
