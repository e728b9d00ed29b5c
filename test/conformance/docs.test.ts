/** Documentation says only what is true: links lead somewhere, samples run. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

function pages(folder = "."): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return folder === "." && entry.name !== "docs" ? [] : pages(path);
    return entry.name.endsWith(".md") ? [path] : [];
  });
}

describe("documentation", () => {
  test.each(pages())("%s links to files that exist", (page) => {
    const text = readFileSync(join(ROOT, page), "utf8");
    const links = [...text.matchAll(/\]\((?<target>[^)#:]+)(?:#[^)]*)?\)/g)].map(
      (match) => match.groups?.["target"] ?? "",
    );

    expect(links.filter((link) => !existsSync(join(ROOT, dirname(page), link)))).toEqual([]);
  });

  test("the sample in the README runs against the built package", () => {
    const sample =
      /```ts\n(?<code>[^]*?)```/.exec(readFileSync(join(ROOT, "README.md"), "utf8"))?.groups?.["code"] ?? "";

    const output = execFileSync(process.execPath, ["--input-type=module", "--eval", sample], {
      cwd: ROOT,
      encoding: "utf8",
    });

    expect(output).toBe("/registry/demo/a 2\n");
  });
});
