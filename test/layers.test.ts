/** The layer table, and the only statement of it: who may import whom, type imports included. */
import { posix } from "node:path";
import { describe, expect, test } from "vitest";
import { sourceFiles, withoutComments, type SourceFile } from "./source-files.ts";

const SDK = ["base", "api", "resources", "client", "runtime"];
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  store: ["base"],
  api: ["base"],
  resources: ["base", "api"],
  server: ["base", "api", "resources", "store"],
  client: ["base", "api"],
  runtime: ["base", "api", "client"],
  controllers: SDK,
  scheduler: SDK,
  agent: SDK,
  cluster: [...SDK, "store", "server", "controllers", "scheduler", "agent"],
  cli: ["base", "api", "client", "runtime", "cluster"],
  testing: [...SDK, "store", "server", "cluster"],
  // src/index.ts, the package's main entry.
  "index.ts": ["cluster"],
};

describe("layers", () => {
  test.each(sourceFiles("src"))("$path imports only the layers below it", (file) => {
    expect(violations(file)).toEqual([]);
  });

  test.each([
    ['import { x } from "../server/x.ts";', "store/ may not import server/"],
    ['import type { X } from "../../server/x.ts";', "store/ may not import server/"],
    ['export { x } from "../api/x.ts";', "store/ may not import api/"],
    ['await import("../client/x.ts");', "store/ may not import client/"],
    ['import "setpoint/store";', "setpoint/store must be a relative import"],
    ['import { x } from "../testing/x.ts";', "store/ may not import testing/"],
    ['import { x } from "../helpers/x.ts";', "store/ may not import helpers/"],
  ])("%s is refused in store/", (text, message) => {
    const folder = text.includes("../../") ? "src/store/file" : "src/store";
    expect(violations({ path: `${folder}/seeded.ts`, text })).toEqual([message]);
  });

  test("a test may also import testing/", () => {
    const text = 'import { x } from "../testing/x.ts";';
    expect(violations({ path: "src/store/seeded.test.ts", text })).toEqual([]);
  });

  test("a folder that is not in the table is refused", () => {
    expect(violations({ path: "src/helpers/x.ts", text: "" })).toEqual(["helpers/ is not a layer"]);
  });
});

function violations({ path, text }: SourceFile): readonly string[] {
  const from = layerOf(path);
  const below = LAYERS[from];
  if (below === undefined) return [`${from}/ is not a layer`];
  const allowed = [from, ...below, ...(path.endsWith(".test.ts") ? ["testing"] : [])];
  const found: string[] = [];
  for (const specifier of importsOf(text)) {
    const to = layerOf(posix.join(posix.dirname(path), specifier));
    if (/^setpoint(\/|$)/.test(specifier)) found.push(`${specifier} must be a relative import`);
    else if (specifier.startsWith(".") && !allowed.includes(to)) found.push(`${from}/ may not import ${to}/`);
  }
  return found;
}

function layerOf(path: string): string {
  return path.split("/")[1] ?? "";
}

function importsOf(text: string): readonly string[] {
  const imports = /\b(?:from|import)\s*\(?\s*["']([^"']+)["']/g;
  return [...withoutComments(text).matchAll(imports)].map((match) => match[1] ?? "");
}
