import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "setpoint-script-"));
const launcher = join(folder, "launch.mjs");
const script = join(folder, "script.cjs");
const kept = `${script}.cache`;

/** Prints the result of the script. With `stay` it runs until the cached code changes. */
const LAUNCH = `
import { existsSync, statSync } from "node:fs";
import { runCachedScript } from "${fileURLToPath(new URL("./cached-script.ts", import.meta.url))}";
const idOf = (file) => existsSync(file) ? statSync(file).ino : undefined;
const before = idOf(${JSON.stringify(kept)});
const { value } = runCachedScript(${JSON.stringify(script)});
console.log(value);
if (process.argv[2] === "stay") {
  while ([before, undefined].includes(idOf(${JSON.stringify(kept)}))) await new Promise((resolve) => setTimeout(resolve, 50));
}
`;

const scriptOf = (value: string): string => `(function () { return { value: "${value}" }; })()`;

function run(...args: readonly string[]): string {
  return spawnSync(process.execPath, [launcher, ...args], { encoding: "utf8" }).stdout;
}

let compiled = Buffer.alloc(0);

beforeAll(async () => {
  const input = join(folder, "launch-source.mjs");
  writeFileSync(input, LAUNCH);
  const bundle = await rolldown({ input, platform: "node", external: /^node:/ });
  await bundle.write({ file: launcher, format: "esm" });
  await bundle.close();
  writeFileSync(script, scriptOf("a"));
  run("stay");
  compiled = readFileSync(kept);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeEach(() => {
  writeFileSync(script, scriptOf("a"));
  rmSync(kept, { recursive: true, force: true });
});

describe("a script with cached code", () => {
  test("gives the same result with and without the cache", () => {
    const without = run();
    writeFileSync(kept, compiled);

    expect([without, run()]).toEqual(["a\n", "a\n"]);
  });

  test("runs its new text after a change, also to one of the same length", () => {
    writeFileSync(kept, compiled);
    writeFileSync(script, scriptOf("b"));

    expect(run()).toBe("b\n");
  });

  test("runs without a damaged cache", () => {
    writeFileSync(kept, Buffer.from(compiled).fill(0xff, compiled.length / 2));

    expect(run()).toBe("a\n");
  });

  test("is cached again when V8 rejects the cache, for example after a change of flags", () => {
    writeFileSync(kept, compiled);
    const args = ["--heap-growing-percent=70", launcher, "stay"];
    const { stdout } = spawnSync(process.execPath, args, { encoding: "utf8" });

    expect(stdout).toBe("a\n");
    expect(readFileSync(kept).equals(compiled)).toBe(false);
  });

  test("runs when the cache cannot be read or written", () => {
    mkdirSync(kept);

    expect(run()).toBe("a\n");
  });
});
