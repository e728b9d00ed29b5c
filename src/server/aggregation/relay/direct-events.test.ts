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

describe("the lines of a watch", () => {
  test("become events, wherever they are cut, those of one piece together", async () => {
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

  test.each(['{"type":"OTHER"}\n', "1\n", "nonsense\n"])("that are no events break off: %j", async (text) => {
    await expect(read(text)).rejects.toThrow(/no event|JSON/);
  });
});
