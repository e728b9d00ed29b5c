/** Suppressed checks are counted, so that one more is a decision and not a habit. */
import { describe, expect, test } from "vitest";
import { sourceFiles } from "./source-files.ts";

/** Number of suppressions. It may be lowered; raising it needs a reason in the commit. */
const ALLOWED = 0;

const SUPPRESSION = /(?:ox|es)lint-disable|@ts-(?:ignore|expect-error|nocheck)/;
/** One line, one rule, a reason: `// oxlint-disable-next-line no-console -- the report is the product`. */
const WELL_FORMED = /\/\/ oxlint-disable(?:-next)?-line [\w/-]+ -- \S/;

describe("suppressions", () => {
  const lines = ["src", "test", "scripts"]
    .flatMap(sourceFiles)
    .filter(({ path }) => path !== "test/suppressions.test.ts")
    .flatMap(({ path, text }) =>
      text.split("\n").map((line, at) => ({ line, place: `${path}:${String(at + 1)}` })),
    )
    .filter(({ line }) => SUPPRESSION.test(line));

  test("their number has not changed", () => {
    expect(lines.map(({ place }) => place)).toHaveLength(ALLOWED);
  });

  test("each names its rule and gives its reason on one line", () => {
    expect(lines.filter(({ line }) => !WELL_FORMED.test(line)).map(({ place }) => place)).toEqual([]);
  });
});
