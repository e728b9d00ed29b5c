import { describe, expect, test } from "vitest";
import { FeedMessages } from "./feed-messages.ts";

function cut(type: "text" | "binary", bytes: Buffer, size: number): readonly (string | Buffer)[] {
  const messages = new FeedMessages(type);
  const found: (string | Buffer)[] = [];
  for (let at = 0; at < bytes.byteLength; at += size)
    found.push(...messages.take(bytes.subarray(at, at + size)));
  return found;
}

describe("messages of a watch", () => {
  test.each([1, 3, 100])("are its lines, wherever pieces of %i bytes cut them", (size) => {
    expect(cut("text", Buffer.from('{"a":"é"}\n{"b":1}\n'), size)).toEqual(['{"a":"é"}\n', '{"b":1}\n']);
  });

  test.each([1, 3, 100])("are its frames without their length, in pieces of %i bytes", (size) => {
    const bytes = Buffer.from([0, 0, 0, 2, 1, 2, 0, 0, 0, 1, 3, 0, 0, 0, 0]);

    expect(cut("binary", bytes, size)).toEqual([Buffer.from([1, 2]), Buffer.from([3]), Buffer.from([])]);
  });
});
