import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { unifiedDiff } from "./unified-diff.ts";

describe("unifiedDiff", () => {
  test("is empty for equal texts", () => {
    expect(diff("a\nb\n", "a\nb\n")).toBe("");
  });

  test("shows a change with three lines of context", () => {
    const before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

    expect(diff(before, before.replace("5", "five"))).toBe(
      "--- before\n+++ after\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
    );
  });

  test("shows a text that appears, and one that disappears", () => {
    expect(diff("", "a\nb\n")).toBe("--- before\n+++ after\n@@ -0,0 +1,2 @@\n+a\n+b\n");
    expect(diff("a\n", "")).toBe("--- before\n+++ after\n@@ -1 +0,0 @@\n-a\n");
  });

  test("puts distant changes into hunks of their own", () => {
    const lines = Array.from({ length: 30 }, (_, at) => `line ${String(at)}`);
    const after = lines.with(2, "x").with(25, "y");

    expect(diff(`${lines.join("\n")}\n`, `${after.join("\n")}\n`).match(/^@@/gm)).toHaveLength(2);
  });

  test("leads from the first text to the second", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 12 }).map((lines) => lines.join("\n"));
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(patched(before, diff(before, after))).toBe(after);
      }),
    );
  });
});

function diff(before: string, after: string): string {
  return unifiedDiff({ name: "before", text: before }, { name: "after", text: after });
}

/** Applies a diff of texts that fit into one hunk or a few. */
function patched(before: string, text: string): string {
  const lines = before === "" ? [] : before.split("\n");
  const result: string[] = [];
  let at = 0;
  for (const line of text.split("\n").slice(2)) {
    const start = /^@@ -(\d+)(?:,(\d+))? /.exec(line);
    if (start !== null) {
      const begin = Number(start[1]) - (start[2] === "0" ? 0 : 1);
      while (at < begin) result.push(lines[at++] ?? "");
    } else if (line.startsWith("+")) result.push(line.slice(1));
    else if (line.startsWith("-")) at++;
    else if (line.startsWith(" ")) result.push(lines[at++] ?? "");
  }
  return [...result, ...lines.slice(at)].join("\n");
}
