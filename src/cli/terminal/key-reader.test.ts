import { describe, expect, test } from "vitest";
import { KeyReader } from "./key-reader.ts";

/** Names of keys, or the character of a character key. */
function keysOf(...chunks: readonly (string | Uint8Array)[]): readonly string[] {
  const reader = new KeyReader();
  return chunks
    .flatMap((chunk) => reader.read(typeof chunk === "string" ? Buffer.from(chunk) : chunk))
    .map(({ name, char }) => (name === "char" ? char : name));
}

describe("keys", () => {
  test.each([
    ["\u001B[A\u001B[B\u001B[C\u001B[D", ["up", "down", "right", "left"]],
    ["\u001BOA\u001BOH", ["up", "home"]],
    [
      "\u001B[1;5C\u001B[3~\u001B[5~\u001B[6~\u001B[Z",
      ["right", "delete", "page-up", "page-down", "back-tab"],
    ],
    ["k\tq?", ["k", "tab", "q", "?"]],
    ["\r\u007F\u0003\u001A", ["enter", "backspace", "interrupt", "suspend"]],
    ["é世😀", ["é", "世", "😀"]],
    ["\u001B[200~x\u001B[15~", ["x"]],
    ["\u001B\u001B[A", ["escape", "up"]],
    ["\u0001\u0000", []],
  ])("%j are keys", (text, keys) => {
    expect(keysOf(text)).toEqual(keys);
  });

  test("a sequence may be split at any place", () => {
    for (const sequence of ["\u001B[A", "\u001B[1;5A", "\u001BOA"])
      for (let at = 1; at < sequence.length; at++)
        expect(keysOf(sequence.slice(0, at), sequence.slice(at))).toEqual(["up"]);
  });

  test("a character may be split between its bytes", () => {
    const bytes = Buffer.from("世x");

    expect(keysOf(bytes.subarray(0, 1), bytes.subarray(1, 2), bytes.subarray(2))).toEqual(["世", "x"]);
  });

  test("an escape is a key once nothing follows it", () => {
    const reader = new KeyReader();

    expect(reader.read(Buffer.from("\u001B"))).toEqual([]);
    expect(reader.isOpen).toBe(true);
    expect(reader.flush()).toEqual([{ name: "escape", char: "" }]);
    expect(reader.isOpen).toBe(false);
    expect(reader.flush()).toEqual([]);
  });

  test("a sequence without an end is given up", () => {
    expect(keysOf(`\u001B[${"1;".repeat(40)}`, "q").at(-1)).toBe("q");
  });
});
