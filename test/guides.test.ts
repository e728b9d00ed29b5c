/** The code of the guides for contributors fits the sources: every name that it imports is exported there. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const GUIDES = readdirSync(join(ROOT, "docs/guides")).filter((name) => name.startsWith("add-a-"));
/** A step names a file in its heading; its first block of code is that file or a part of it. */
const STEP = /^## .*?`(?<path>[\w./-]+\.ts)`[^#]*?^```typescript\n(?<code>.*?)^```/gms;
const IMPORT = /import (?:type )?\{(?<names>[^}]*)\} from "(?<from>\.[^"]+)"/g;

interface Step {
  readonly path: string;
  readonly code: string;
}

function stepsOf(guide: string): readonly Step[] {
  const text = readFileSync(join(ROOT, "docs/guides", guide), "utf8");
  return [...text.matchAll(STEP)].map(({ groups }) => ({
    path: groups?.["path"] ?? "",
    code: groups?.["code"] ?? "",
  }));
}

/** Imports that no source file and no other step of the guide exports, as `name of path`. */
function missingImports(steps: readonly Step[]): readonly string[] {
  return steps.flatMap(({ path, code }) =>
    [...code.matchAll(IMPORT)].flatMap(({ groups }) => {
      const from = posix.join(posix.dirname(path), groups?.["from"] ?? "");
      // A kind's type is generated in the course of its guide.
      if (from.startsWith("src/api/generated/")) return [];
      const text = steps.find((step) => step.path === from)?.code ?? sourceOf(from);
      const names = (groups?.["names"] ?? "").split(",").map((name) => name.replace(/\btype\b/, "").trim());
      return names.filter((name) => !isExported(name, text)).map((name) => `${name} of ${from}`);
    }),
  );
}

function sourceOf(path: string): string {
  return existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), "utf8") : "";
}

function isExported(name: string, text: string): boolean {
  return new RegExp(
    String.raw`^export (?:declare )?(?:async )?(?:class|const|function|interface|type) ${name}\b`,
    "m",
  ).test(text);
}

test.each(GUIDES)("%s imports names that exist", (guide) => {
  const steps = stepsOf(guide);

  expect(steps.some(({ code }) => code.includes("import "))).toBe(true);
  expect(missingImports(steps)).toEqual([]);
});

test("a name that is gone is found", () => {
  const code = 'import { gone, UsageError } from "./command.ts";\n';

  expect(missingImports([{ path: "src/cli/x.ts", code }])).toEqual(["gone of src/cli/command.ts"]);
});
