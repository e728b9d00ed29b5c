import { describe, expect, test } from "vitest";
import { eventsOf } from "./direct-events.ts";

async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

async function read(...texts: readonly string[]): Promise<readonly unknown[]> {
  const batches: unknown[] = [];
  for await (const batch of eventsOf(pieces(...texts))) batches.push(batch);
  return batches;
}

describe("eventsOf", () => {
  test("events are parsed wherever chunks split them, and those of one chunk come together", async () => {
    expect(
      await read(
        '{"type":"ADDED","object":{"a":"é',
        '"}}\n{"type":"DELETED","object":1}\n\n{"type":"BOOKM',
        'ARK"}\n',
      ),
    ).toEqual([
      [
        { type: "ADDED", object: { a: "é" } },
        { type: "DELETED", object: 1 },
      ],
      [{ type: "BOOKMARK", object: undefined }],
    ]);
  });

  test.each(['{"type":"OTHER"}\n', "1\n", "nonsense\n"])(
    "a line that is not an event ends the stream with an error: %j",
    async (text) => {
      await expect(read(text)).rejects.toThrow(/no event|JSON/);
    },
  );
});
