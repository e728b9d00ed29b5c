import { expect, test } from "vitest";
import { Chunks } from "./chunks.ts";

test("a chunk starts with its length in hexadecimal digits and ends with a line break", () => {
  const text = "x".repeat(300);

  expect(Buffer.from(new Chunks().of(Buffer.from(text))).toString()).toBe(`12c\r\n${text}\r\n`);
});

test("all watchers of a piece share one chunk, also when others get another piece in between", () => {
  const chunks = new Chunks();
  const [piece, other] = [Buffer.from("a"), Buffer.from("a")];
  const chunk = chunks.of(piece);

  expect(chunks.of(other)).not.toBe(chunk);
  expect(chunks.of(piece)).toBe(chunk);
});
