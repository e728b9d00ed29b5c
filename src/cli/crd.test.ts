import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { silentLog } from "../base/log/log.ts";
import { runCli } from "./cli.ts";
import { streamsWith } from "./streams-fixture.ts";

const DEFINITION = { kind: "CustomResourceDefinition", metadata: { name: "boxes.g.io" } };

describe("setpoint crd", () => {
  test("prints the definitions that a module exports, as YAML", async () => {
    const module = `export const Box = { definition: ${JSON.stringify(DEFINITION)} };\nexport const other = 1;`;

    const { out, code } = await run(module);

    expect(parse(out)).toEqual(DEFINITION);
    expect(code).toBe(0);
  });

  test("prints several as one List in JSON", async () => {
    const definition = `{ definition: ${JSON.stringify(DEFINITION)} }`;

    const { out } = await run(`export const A = ${definition};\nexport const B = ${definition};`, ["--json"]);

    expect(JSON.parse(out)).toEqual({ apiVersion: "v1", kind: "List", items: [DEFINITION, DEFINITION] });
  });

  test.each([
    ["export const x = 1;", /exports no kind: export the result of defineResource/],
    ["nonsense(", /cannot be imported by Node.js/],
  ])("says what is wrong with %s", async (module, message) => {
    const { err, code } = await run(module);

    expect(err).toMatch(message);
    expect(code).toBe(1);
  });
});

async function run(
  module: string,
  flags: readonly string[] = [],
): Promise<{ out: string; err: string; code: number }> {
  const workingDir = mkdtempSync(join(tmpdir(), "setpoint-crd-"));
  onTestFinished(() => rmSync(workingDir, { recursive: true }));
  writeFileSync(join(workingDir, "kinds.mjs"), module);
  const result = { out: "", err: "", code: 0 };
  await runCli(["crd", "kinds.mjs", ...flags], {
    stdout: (text) => void (result.out += text),
    stderr: (text) => void (result.err += text),
    log: silentLog,
    exit: (code) => void (result.code = code),
    streams: () => streamsWith(),
    env: {},
    homeDir: workingDir,
    workingDir,
    programFile: "/setpoint/dist/cli.js",
    signal: new AbortController().signal,
  });
  return result;
}
