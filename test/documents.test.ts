/** Documents stay as short as promised, and decisions have a number each. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const README_LINES_MAX = 120;
const BENCHMARKS_WORDS_MAX = 1800;
const DECISION_WORDS_MAX = 900;

const decisions = readdirSync(`${ROOT}docs/decisions`);

function textOf(page: string): string {
  return readFileSync(ROOT + page, "utf8");
}

function wordsOf(page: string): number {
  return textOf(page).split(/\s+/).filter(Boolean).length;
}

describe("length", () => {
  test("README.md has at most 120 lines", () => {
    expect(textOf("README.md").trimEnd().split("\n").length).toBeLessThanOrEqual(README_LINES_MAX);
  });

  test("docs/reference/benchmarks.md has at most 1,800 words", () => {
    expect(wordsOf("docs/reference/benchmarks.md")).toBeLessThanOrEqual(BENCHMARKS_WORDS_MAX);
  });

  test.each(decisions)("docs/decisions/%s has at most 900 words", (name) => {
    expect(wordsOf(`docs/decisions/${name}`)).toBeLessThanOrEqual(DECISION_WORDS_MAX);
  });
});

test("decisions are numbered without a gap, in their names and headings", () => {
  const numbers = decisions.map((name) => Number(name.slice(0, 4)));
  const headings = decisions.map((name) =>
    Number(/^# (?<number>\d+)\. /.exec(textOf(`docs/decisions/${name}`))?.[1]),
  );

  expect(numbers).toEqual(decisions.map((_, at) => at + 1));
  expect(headings).toEqual(numbers);
});
