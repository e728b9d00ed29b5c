/** Documents stay as short as promised, decisions have a number each, and the files that comments name exist. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { sourceFiles } from "./source-files.ts";

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

describe("files that comments name", () => {
  const COMMENT = /\/\*[^]*?\*\/|(?<![:"'`])\/\/.*$/gm;
  const FILE = /(?<![\w*.<$])(?:\.\.\/)*(?<file>[\w@-]+(?:\/[\w.-]+)*\.(?:ts|mjs|md))\b/g;
  const pages = ["docs", "facts"].flatMap((folder) =>
    readdirSync(ROOT + folder, { recursive: true, encoding: "utf8" }).map((page) => `${folder}/${page}`),
  );
  const sources = ["src", "test", "scripts", "examples"].flatMap(sourceFiles);
  const known = [...sources.map(({ path }) => path), ...readdirSync(ROOT), ...pages];

  /** A comment may name a file as seen from its own folder. */
  function missingIn(text: string): readonly string[] {
    const named = (text.match(COMMENT) ?? []).flatMap((comment) =>
      [...comment.matchAll(FILE)].map(({ groups }) => groups?.["file"] ?? ""),
    );
    return named.filter((file) => !known.some((path) => path === file || path.endsWith(`/${file}`)));
  }

  test("exist", () => {
    const missing = sources
      .filter(({ path }) => !/\/generated\/|node_modules\//.test(path))
      .flatMap(({ path, text }) => missingIn(text).map((file) => `${path}: ${file}`));

    expect(sources.length).toBeGreaterThan(2500);
    expect(missing).toEqual([]);
  });

  test("are found when they are gone", () => {
    expect(missingIn("// see store/gone.ts and test/documents.test.ts")).toEqual(["store/gone.ts"]);
  });
});
