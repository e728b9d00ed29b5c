/** Suppressed checks and unchecked casts are counted, so that one more is a decision and not a habit. */
import { describe, expect, test } from "vitest";
import { sourceFiles } from "./source-files.ts";

/** Number of suppressions. It may be lowered; raising it needs a reason in the commit. */
const ALLOWED = 0;

/** Casts that the compiler does not check. The same rule: a reason in the commit. */
const CASTS_ALLOWED = 6;

const SUPPRESSION = /(?:ox|es)lint-disable|@ts-(?:ignore|expect-error|nocheck)/;
/** One line, one rule, a reason: `// oxlint-disable-next-line no-console -- the report is the product`. */
const WELL_FORMED = /\/\/ oxlint-disable(?:-next)?-line [\w/-]+ -- \S/;

const UNCHECKED_CAST = /\bas unknown as\b/;

const all = ["src", "test", "scripts"]
  .flatMap(sourceFiles)
  .filter(({ path }) => path !== "test/suppressions.test.ts")
  .flatMap(({ path, text }) => {
    const lines = text.split("\n");
    return lines.map((line, at) => ({
      line,
      before: lines[at - 1] ?? "",
      place: `${path}:${String(at + 1)}`,
    }));
  });

describe("suppressions", () => {
  const lines = all.filter(({ line }) => SUPPRESSION.test(line));

  test("their number has not changed", () => {
    expect(lines.map(({ place }) => place)).toHaveLength(ALLOWED);
  });

  test("each names its rule and gives its reason on one line", () => {
    expect(lines.filter(({ line }) => !WELL_FORMED.test(line)).map(({ place }) => place)).toEqual([]);
  });
});

describe("casts through unknown", () => {
  const lines = all.filter(({ line }) => UNCHECKED_CAST.test(line));

  test("their number has not changed", () => {
    expect(lines.map(({ place }) => place)).toHaveLength(CASTS_ALLOWED);
  });

  test("each has its reason on the line before", () => {
    expect(lines.filter(({ before }) => !/^\s*\/\/ \S/.test(before)).map(({ place }) => place)).toEqual([]);
  });
});
