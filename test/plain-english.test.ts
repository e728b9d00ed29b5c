/** Comments and help name the component that acts and begin with the subject; STYLE.md has the rules. */
import { describe, expect, test } from "vitest";
import { sourceFiles } from "./source-files.ts";

/** Folders whose sentences are still to be rewritten. It only gets shorter. */
const PENDING: readonly string[] = ["test/"];
/** Prefixes that are checked although they are pending: `PLAIN=src/store/,src/base/ npx vitest …`. */
const CHECKED = (process.env["PLAIN"] ?? "").split(",").filter((prefix) => prefix !== "");

const RIDDLES = /\b(?:somebody|nobody|anybody|everybody|whoever|whomever)\b/i;
const DANGLING = /^(?:Of|What|Whom|Whose)\b(?!.*\?$)/;

describe("plain English", () => {
  const files = ["src", "test", "scripts", "examples"]
    .flatMap(sourceFiles)
    .filter(({ path }) => !path.includes("/generated/") && !path.includes("node_modules/"))
    .filter(({ path }) => isUnder(CHECKED, path) || !isUnder(PENDING, path));

  test.each(files)("$path names components and begins with the subject", ({ text }) => {
    expect(riddlesIn(text)).toEqual([]);
  });

  test.each([
    "/** Nobody waits for it. */",
    "/**\n * Takes keys.\n * Told to whoever asks.\n */",
    "// Of what is stored.",
    "/** What a value is. */",
    "const x = 1; // for somebody else",
    'metrics.counter({ help: "What was asked." });',
    'new Command("x").description("tell anybody who asks");',
    'command.option("--x <y>", "Of the reviews that it is sent");',
  ])("%s is refused", (text) => {
    expect(riddlesIn(text)).toHaveLength(1);
  });

  test.each([
    "/** The cache drops the entry. */",
    "const user = 'nobody'; // the uid of the pod",
    "// https://example.org/whoever",
    "/** Is the answer right? What if not? */",
  ])("%s passes", (text) => {
    expect(riddlesIn(text)).toEqual([]);
  });
});

function isUnder(folders: readonly string[], path: string): boolean {
  return folders.some((folder) => path.startsWith(folder));
}

/** The sentences of comments, metric help and command-line help that break a rule. */
function riddlesIn(text: string): readonly string[] {
  return [...commentsOf(text), ...helpOf(text)].filter(
    (sentence) => RIDDLES.test(sentence.replace(/https?:\/\/\S+|`[^`]*`/g, "")) || DANGLING.test(sentence),
  );
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
