/**
 * Time, randomness and order come from the Loop of src/base. The linter refuses the globals and modules; this test searches the text for
 * uses that no linter rule covers.
 */
import { describe, expect, test } from "vitest";
import { sourceFiles, withoutComments } from "./source-files.ts";

const FORBIDDEN: Readonly<Record<string, RegExp>> = {
  "new Date() without an argument": /\bnew\s+Date(?!\w)\s*(?:\(\s*\)|(?!\s*\())/,
  "Date() as a function": /(?<!new\s)(?<![\w.])Date\(\s*\)/,
  "AbortSignal.timeout": /\bAbortSignal\s*\.\s*timeout\b/,
  "randomness of crypto": /\bcrypto\s*\.\s*(?:random\w*|getRandomValues)\b/,
  "import()": /\bimport\s*\(/,
};

/** Files that may load a module on first use, each with its reason. An entry that is no longer needed fails. */
const LAZY_IMPORTS: Readonly<Record<string, string>> = {
  "src/agent/process/terminal.ts": "the optional package for terminals may be missing",
  "src/cli/load-module.ts": "the module to look into is named by the user",
  "src/cli/launch.ts": "the program, which is run with kept compiled code, cannot do it itself",
  "src/cluster/data-dir/open-store.ts": "gRPC is loaded only by those who use etcd",
};

describe("seams", () => {
  test("every file takes time and modules through the Loop", () => {
    const files = sourceFiles("src").filter(({ path }) => !path.startsWith("src/base/"));

    expect(files.length).toBeGreaterThan(2000);
    expect(
      files.flatMap(({ path, text }) => offences(path, text).map((offence) => `${path}: ${offence}`)),
    ).toEqual([]);
  });

  test.each([
    ["const now = new Date();", "new Date() without an argument"],
    ["const now = new Date;", "new Date() without an argument"],
    ["const now = Date();", "Date() as a function"],
    ["const signal = AbortSignal.timeout(5);", "AbortSignal.timeout"],
    ["const id = globalThis.crypto.randomUUID();", "randomness of crypto"],
    ['const lib = await import("libsql");', "import()"],
  ])("%s is refused", (text, offence) => {
    expect(offences("src/store/seeded.ts", text)).toEqual([offence]);
  });

  test.each([
    "new Date(0)",
    "new Date(loop.now())",
    "// as new Date() would",
    "new DateRange()",
    "import.meta.url",
  ])("%s is fine", (text) => {
    expect(offences("src/store/seeded.ts", text)).toEqual([]);
  });

  test("every exception is still needed", () => {
    const lazy = sourceFiles("src").filter(({ text }) => FORBIDDEN["import()"]?.test(withoutComments(text)));
    expect(lazy.map(({ path }) => path)).toEqual(expect.arrayContaining(Object.keys(LAZY_IMPORTS)));
  });
});

function offences(path: string, text: string): readonly string[] {
  const code = withoutComments(text);
  const found = Object.keys(FORBIDDEN).filter((name) => FORBIDDEN[name]?.test(code));
  return found.filter((name) => !(name === "import()" && path in LAZY_IMPORTS));
}
