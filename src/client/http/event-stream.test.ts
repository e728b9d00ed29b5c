import { describe, expect, test } from "vitest";
import { EventStream } from "./event-stream.ts";
import { LineSplitter } from "./line-splitter.ts";

const LINES = ["ä", "日本", "💧"].map((text) =>
  JSON.stringify({ type: "ADDED", object: { text, n: 2 ** 53 - 1 } }),
);
const BYTES = Buffer.from(`${LINES.join("\n")}\n`);
const TEXTS = ["ä", "日本", "💧"];

interface Read {
  readonly batches: readonly (readonly string[])[];
  readonly error: unknown;
}

async function read(chunks: readonly Uint8Array[]): Promise<Read> {
  const batches: string[][] = [];
  try {
    for await (const events of new EventStream(each(chunks))) {
      batches.push(events.map(({ object }) => (object as { text: string }).text));
    }
    return { batches, error: undefined };
  } catch (error) {
    return { batches, error };
  }
}

async function* each(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array, undefined> {
  yield* chunks;
  return undefined;
}

describe("EventStream", () => {
  test("the events are the same however the bytes are cut in two", async () => {
    for (let at = 0; at <= BYTES.length; at++) {
      const { batches, error } = await read([BYTES.subarray(0, at), BYTES.subarray(at)]);
      expect([batches.flat(), error]).toEqual([TEXTS, undefined]);
    }
  });

  test("the events are the same when bytes arrive one by one", async () => {
    const { batches } = await read(Array.from(BYTES, (byte) => Uint8Array.of(byte)));

    expect(batches).toEqual(TEXTS.map((text) => [text]));
  });

  test("events that arrive together form one batch", async () => {
    expect((await read([BYTES])).batches).toEqual([TEXTS]);
  });

  test("an end within an event is a broken connection, and the partial event is dropped", async () => {
    const ends = new Set<number>([0]);
    for (const [at, byte] of BYTES.entries()) if (byte === 0x0a) ends.add(at + 1);

    for (let at = 0; at <= BYTES.length; at++) {
      const { batches, error } = await read([BYTES.subarray(0, at)]);
      const whole = [...BYTES.subarray(0, at)].filter((byte) => byte === 0x0a).length;
      expect(batches.flat()).toEqual(TEXTS.slice(0, whole));
      expect(error === undefined).toBe(ends.has(at));
    }
  });

  test.each(["nonsense\n", "{}\n", '{"type":"OTHER"}\n', "[1]\n"])("%j is not an event", async (text) => {
    expect((await read([BYTES, Buffer.from(text)])).error).toBeInstanceOf(SyntaxError);
  });

  test.each(['{"type":"OTHER","object":{"data":"c2VjcmV0"}}', '"c2VjcmV0"', '{"data":c2VjcmV0}'])(
    "the error for an invalid line does not show its content: %s",
    async (line) => {
      const { error } = await read([Buffer.from(`${line}\n`)]);

      expect(error).toBeInstanceOf(SyntaxError);
      expect(String(error)).not.toContain("c2VjcmV0");
    },
  );

  test("integers beyond 2^53 are exact", async () => {
    const line = Buffer.from('{"type":"ADDED","object":{"n":9223372036854775807,"few":[ 7]}}\n');

    const next = await new EventStream(each([line])).next();

    expect(next.value).toEqual([{ type: "ADDED", object: { n: 9223372036854775807n, few: [7] } }]);
  });
});

describe("LineSplitter", () => {
  test("a line without end is rejected above the limit", () => {
    const lines = new LineSplitter(10);
    lines.push(Buffer.from("12345\n678901234"));

    expect(() => lines.push(Buffer.from("56"))).toThrow(RangeError);
  });
});
