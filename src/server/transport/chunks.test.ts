import { expect, test } from "vitest";
import { Chunks } from "./chunks.ts";

test("a chunk has its length in hexadecimal digits in front and a line end behind", () => {
  const text = "x".repeat(300);

  expect(Buffer.from(new Chunks().of(Buffer.from(text))).toString()).toBe(`12c\r\n${text}\r\n`);
});

test("one piece is one chunk for all who get it, also where others get another one meanwhile", () => {
  const chunks = new Chunks();
  const [piece, other] = [Buffer.from("a"), Buffer.from("a")];
  const chunk = chunks.of(piece);

  expect(chunks.of(other)).not.toBe(chunk);
  expect(chunks.of(piece)).toBe(chunk);
});
