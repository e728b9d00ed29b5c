/** ARCHITECTURE.md leads a reader through the code: its paths exist, and the line of a create stays short. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PAGE = readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8");
const FILES_TO_READ_MAX = 20;

/** Files of the numbered steps below a heading, each once. */
function filesOf(heading: string): readonly string[] {
  const section = PAGE.split(/^##+ /m).find((text) => text.startsWith(heading)) ?? "";
  const steps = /^1\. .*?(?=\n\n(?![\d ]))/ms.exec(section)?.[0] ?? "";
  return [...new Set([...steps.matchAll(/`([\w/-]+\.ts)`/g)].map((match) => match[1] ?? ""))];
}

test.each(["A create until its watch event", "A server-side apply"])(
  "%s: the files of the steps exist",
  (heading) => {
    const files = filesOf(heading);

    expect(files.length).toBeGreaterThan(5);
    expect(files.filter((file) => !existsSync(join(ROOT, "src", file)))).toEqual([]);
  },
);

test("every path of the page exists", () => {
  const paths = [...PAGE.matchAll(/`((?:[\w-]+\/)*[\w.-]+\.ts)`/g)].map((match) => match[1] ?? "");
  // Some sections name files as seen from their own part.
  const bases = ["", "src", "src/server", "src/store", "src/cluster/in-program", "src/streams", "src/agent"];

  expect(paths.length).toBeGreaterThan(60);
  expect(paths.filter((path) => !bases.some((base) => existsSync(join(ROOT, base, path))))).toEqual([]);
});

test("a reader follows a create through at most 20 files", () => {
  const files = filesOf("A create until its watch event");

  expect(files.length, files.join("\n")).toBeLessThanOrEqual(FILES_TO_READ_MAX);
  expect(files).toContain("server/verbs/watch/watch-events.ts");
});
