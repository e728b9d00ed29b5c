/** `npm start` in a bare clone: its phases, with an npm and a build that only do what the phases look at. */
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";

const SCRIPTS = fileURLToPath(new URL("../../scripts/", import.meta.url));
const INSTALLS = `
const fs = require("node:fs");
fs.mkdirSync("node_modules");
fs.writeFileSync("node_modules/.package-lock.json", '{"packages":{"a":{},"b":{}}}');
console.log("added 2 packages");
`;
const BUILDS = `
import { mkdirSync, writeFileSync } from "node:fs";
mkdirSync("dist");
writeFileSync("dist/cli.js", "console.log(JSON.stringify(process.argv.slice(2)))");
writeFileSync("dist/.built", "");
`;

describe("npm start in a bare clone", () => {
  test("installs, builds and runs the program; only the program prints to stdout", async () => {
    const clone = new Clone();

    const first = await clone.start("--json");
    const second = await clone.start();

    expect(first).toEqual({
      code: 0,
      stdout: '["up","--json"]\n',
      stderr: expect.stringMatching(
        /^… installing packages\n✔ installed {6} +\d+\.\d s {3}2 packages\n… building\n✔ built {10} +\d+\.\d s {3}dist\n$/,
      ) as string,
    });
    expect(second).toEqual({ code: 0, stdout: '["up"]\n', stderr: "" });
  });

  test.each([
    {
      what: "an npm that complains",
      npm: 'console.error("npm error ENOTFOUND"); process.exit(1)',
      stderr:
        "… installing packages\nnpm error ENOTFOUND\nsetpoint: installing packages failed with exit code 1; " +
        "the reason is above: check the network and the free disk space, then run it again\n",
    },
    {
      what: "an npm that complains on stdout",
      npm: 'console.log("no space left"); process.exit(7)',
      stderr: expect.stringMatching(
        /\nno space left\nsetpoint: installing packages failed with exit code 7; /,
      ) as string,
    },
    {
      what: "an npm that ends without a word",
      npm: "process.exit(3)",
      stderr: expect.stringMatching(
        /\nsetpoint: .* failed with exit code 3; it printed no reason: check /,
      ) as string,
    },
    {
      what: "an npm that is killed",
      npm: 'process.kill(process.pid, "SIGKILL"); setInterval(() => undefined, 1000)',
      stderr: expect.stringMatching(
        /\nsetpoint: installing packages was ended by SIGKILL; if .* memory/,
      ) as string,
    },
    {
      what: "a build with an error",
      build: 'console.error("src/a.ts(1,1): error TS1005"); process.exit(2);',
      stderr: expect.stringMatching(
        /… building\nsrc\/a\.ts\(1,1\): error TS1005\nsetpoint: building failed with exit code 2; the reason is above: mend it/,
      ) as string,
    },
  ])("tells why $what stopped it, and what to do", async ({ npm, build, stderr }) => {
    const clone = new Clone({ ...(npm && { npm }), ...(build && { build }) });

    expect(await clone.start()).toEqual({ code: 1, stdout: "", stderr });
  });

  test("says so when there is no npm", async () => {
    const clone = new Clone();

    expect(await clone.startWith({ npm_execpath: "", PATH: "/nowhere" })).toEqual({
      code: 1,
      stdout: "",
      stderr:
        "… installing packages\nsetpoint: installing packages failed: npm is not in PATH; install npm, or add its folder to PATH\n",
    });
  });

  test.runIf(process.platform === "linux")(
    "replaces a live line by each phase on a terminal, and colours it unless NO_COLOR is set",
    async () => {
      const [plain, coloured] = await Promise.all([
        new Clone().startOnTerminal({ NO_COLOR: "1" }),
        new Clone().startOnTerminal({ NO_COLOR: "" }),
      ]);

      expect(plain).toMatch(/… installing packages\r<2K>✔ installed {6} +\d+\.\d s {3}2 packages\r?\n/);
      expect(plain).toMatch(/… building\r<2K>✔ built/);
      expect(plain).toContain('["up"]');
      expect(coloured).toMatch(/<2K><32m>✔<39m> installed/);
    },
  );
});

/** The scripts of this repository in a folder of their own, as a clone has them. */
class Clone {
  readonly #folder = mkdtempSync(join(tmpdir(), "setpoint-clone-"));

  constructor({ npm = INSTALLS, build = BUILDS } = {}) {
    onTestFinished(() => rmSync(this.#folder, { recursive: true, force: true }));
    for (const folder of ["scripts", "src"]) mkdirSync(join(this.#folder, folder));
    for (const name of ["start.mjs", "prepare.mjs", "phase.mjs", "child.mjs"])
      copyFileSync(join(SCRIPTS, name), join(this.#folder, "scripts", name));
    this.#write("scripts/build.mjs", build);
    this.#write("npm.js", npm);
    for (const name of ["package.json", "package-lock.json", "tsconfig.json", "tsconfig.build.json"])
      this.#write(name, "{}");
  }

  start(...flags: readonly string[]) {
    return this.#run(process.execPath, ["scripts/start.mjs", ...flags], {});
  }

  startWith(env: Readonly<Record<string, string>>) {
    return this.#run(process.execPath, ["scripts/start.mjs"], env);
  }

  /** Output of both streams as the terminal shows it, with `<2K>` for the escape sequence `ESC [ 2 K`. */
  async startOnTerminal(env: Readonly<Record<string, string>>): Promise<string> {
    const words = ["-qefc", `${process.execPath} scripts/start.mjs`, "/dev/null"];
    const { stdout } = await this.#run("script", words, { TERM: "xterm", ...env });
    return stdout.replaceAll("\u001b[", "<").replaceAll(/(?<=<\d*[Km])/g, ">");
  }

  #run(file: string, args: readonly string[], env: Readonly<Record<string, string>>) {
    const options = {
      cwd: this.#folder,
      env: { ...process.env, npm_execpath: join(this.#folder, "npm.js"), ...env },
    };
    return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
      execFile(file, args, options, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : error.code, stdout, stderr }),
      );
    });
  }

  #write(name: string, text: string): void {
    writeFileSync(join(this.#folder, name), text);
  }
}
