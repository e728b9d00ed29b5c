/**
 * Material of other projects, beside the repository instead of in it: their manifests, and upstream's figures for them. CI has the folder.
 * Elsewhere the tests that need it are skipped, and say so.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, test } from "vitest";
import type { JsonObject } from "../src/api/json/json-object.ts";

const FOLDER = fileURLToPath(new URL("../../shared", import.meta.url));

/** A `describe` whose body runs only if the folder or file exists; otherwise it is one skipped test. */
export function describeShared(name: string, title: string, body: () => void): void {
  describe(title, () => {
    const isThere = existsSync(join(FOLDER, name));
    if (isThere) body();
    else test.skipIf(!isThere)(`needs ../shared/${name} beside the repository`, () => undefined);
  });
}

/** Names of the manifest files. */
export function manifestFiles(): readonly string[] {
  return readdirSync(join(FOLDER, "manifests")).filter((name) => name.endsWith(".jsonl"));
}

/** Parses a file with one JSON object per line. */
export function sharedLines<T extends object = JsonObject>(name: string): readonly T[] {
  const lines = readFileSync(join(FOLDER, name), "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as T);
}
