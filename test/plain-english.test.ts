/** Comments and help name the component that acts and begin with the subject; STYLE.md has the rules. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { sourceFiles, type SourceFile } from "./source-files.ts";

const RIDDLES = /\b(?:some|no|any|every)body\b|\b(?:someone|anyone|everyone|whoever|whomever)\b/i;
const POSSESSIVE = /\btheirs\b/i;
const DANGLING = /^(?:Of|What|Whom|Whose)\b(?!.*\?$)/;

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** Accepted decisions are not changed; measurements are pasted from the bench program. */
const QUOTED = /^docs\/(?:decisions\/|reference\/benchmarks\.md)/;

describe("plain English", () => {
  const files = [...["src", "test", "scripts", "examples"].flatMap(sourceFiles), ...rootFiles()]
    .filter(({ path }) => !path.includes("/generated/") && !path.includes("node_modules/"))
    .filter(({ path }) => path !== "test/plain-english.test.ts");

  test("comments and help of every file name components and begin with the subject", () => {
    expect(files.length).toBeGreaterThan(2500);
    expect(files.flatMap(({ path, text }) => riddlesIn(text).map((riddle) => `${path}: ${riddle}`))).toEqual(
      [],
    );
  });

  test("every page names components", () => {
    const riddles = pages().flatMap((page) =>
      readFileSync(join(ROOT, page), "utf8")
        .split("\n")
        .filter((line) => isRiddle(line.replace(/\*\w+\*/g, "")))
        .map((line) => `${page}: ${line}`),
    );

    expect(pages().length).toBeGreaterThan(30);
    expect(riddles).toEqual([]);
  });

  test.each([
    "/** Nobody waits for it. */",
    "/**\n * Takes keys.\n * Told to whoever asks.\n */",
    "// Of what is stored.",
    "/** What a value is. */",
    "// The other items keep theirs.",
    "const x = 1; // for somebody else",
    'metrics.counter({ help: "What was asked." });',
    'new Command("x").description("tell anybody who asks");',
    'command.option("--x <y>", "Of the reviews that it is sent");',
    'test("tells whoever asks", () => {});',
    'test.each(NAMES)("%s stops nobody", () => {});',
  ])("%s is refused", (text) => {
    expect(riddlesIn(text)).toHaveLength(1);
  });

  test.each([
    "/** The cache drops the entry. */",
    "const user = 'nobody'; // the uid of the pod",
    "// https://example.org/whoever",
    "/** Is the answer right? What if not? */",
    'test("of a Job without pods is zero", () => {});',
  ])("%s passes", (text) => {
    expect(riddlesIn(text)).toEqual([]);
  });
});

function pages(): readonly string[] {
  const docs = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" });
  return [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "STYLE.md",
    ...docs.map((path) => `docs/${path}`),
  ].filter((path) => path.endsWith(".md") && !QUOTED.test(path));
}

/** The sentences of comments, metric help, command-line help and test titles that break a rule. */
function riddlesIn(text: string): readonly string[] {
  return [
    ...[...commentsOf(text), ...helpOf(text)].filter(
      (sentence) => isRiddle(sentence) || DANGLING.test(sentence) || POSSESSIVE.test(withoutQuotes(sentence)),
    ),
    ...titlesOf(text).filter(isRiddle),
  ];
}

function isRiddle(sentence: string): boolean {
  return RIDDLES.test(withoutQuotes(sentence));
}

function withoutQuotes(sentence: string): string {
  return sentence.replace(/https?:\/\/\S+|`[^`]*`/g, "");
}

/** Source files directly in the root of the repository. */
function rootFiles(): readonly SourceFile[] {
  return readdirSync(ROOT)
    .filter((name) => /\.[mc]?[jt]s$/.test(name))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));
}

/** Each comment as one line of text; consecutive `//` lines are one comment. */
function commentsOf(text: string): readonly string[] {
  const comments = /\/\*[\s\S]*?\*\/|(?:(?<![:"'`])\/\/.*(?:\n[ \t]*(?=\/\/))?)+/g;
  return [...text.matchAll(comments)].map(([comment]) =>
    comment
      .replace(/^\s*(?:\/\*+|\*+\/|\*|\/\/)|\*\/$/gm, "")
      .replace(/\s+/g, " ")
      .trim(),
  );
}

/** Texts that `--help` and `/metrics` show. */
function helpOf(text: string): readonly string[] {
  const shown =
    /\b(?:help|description):\s*(["`])(.*?)\1|\.(?:description|summary)\(\s*(["`])(.*?)\3|\.(?:option|argument)\(\s*"[^"]*",\s*(["`])(.*?)\5/gs;
  return [...text.matchAll(shown)].map((match) => match[2] ?? match[4] ?? match[6] ?? "");
}

/** Titles of tests; a `describe` title may be a fragment that its tests continue. */
function titlesOf(text: string): readonly string[] {
  const titled = /\b(?:test|describe)(?:\.\w+)*(?:\([^"`\n]*\))?\(\s*(["`])(.*?)\1/g;
  return [...text.matchAll(titled)].map((match) => match[2] ?? "");
}
