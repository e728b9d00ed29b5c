import { describe, expect, test } from "vitest";
import { pemBlocks } from "./pem.ts";

function block(label: string, ...lines: readonly string[]): string {
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n");
}

function read(text: string): readonly unknown[] {
  return [...pemBlocks(text)].map(({ label, hasHeaders, bytes }) => [
    label,
    hasHeaders,
    bytes.toString("hex"),
  ]);
}

describe("pemBlocks", () => {
  test("yields all blocks in order, without the text around them", () => {
    const text = `subject: a\n${block("A", "AAEC", "AwQ=")}between\n${block("B B")}after`;

    expect(read(text)).toEqual([
      ["A", false, "0001020304"],
      ["B B", false, ""],
    ]);
  });

  test("reports whether a block has headers", () => {
    expect(read(block("A", "Proc-Type: 4", "", "AA=="))).toEqual([["A", true, "00"]]);
  });

  test.each([
    "",
    "-----BEGIN A-----",
    "-----BEGIN A-----\nAA==",
    "-----BEGIN A\nAA==\n-----END A-----",
    "-----BEGIN A-----\nAA==\n-----END B-----",
    "x-----BEGIN A-----\nAA==\n-----END A-----",
    "-----BEGIN A-----\nA*==\n-----END A-----",
  ])("finds no block in %j", (text) => {
    expect(read(text)).toEqual([]);
  });
});
