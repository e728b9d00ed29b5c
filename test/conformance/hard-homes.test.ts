/** `setpoint up` with a home folder that it may not change, and with output that is no terminal. */
import { execFile } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const PROGRAM = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
/** No rule of the file system holds root back, so that tests of root run the program as another user. */
const OTHER = 65_534;
const USER = process.getuid?.() === 0 ? { uid: OTHER, gid: OTHER } : {};

test("a home folder that is not writable: up says so, and which option helps", async () => {
  const home = folder();
  chmodSync(home, 0o500);

  const { code, stdout, stderr } = await setpoint(home, "up", "-d", "--listen", "127.0.0.1:0");

  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/^error: .*\/\.setpoint.* (?:permission|not permitted|writable|may not).*\n$/);
});

test("a home folder that is not writable: a cluster elsewhere runs, and says why it has no context", async () => {
  const home = folder();
  const dataDir = join(folder(), "state");
  chmodSync(home, 0o500);

  const { code, stdout } = await up(home, dataDir);

  expect(code).toBe(0);
  expect(stdout).toMatch(/The kubeconfig was left alone: .*\/\.kube/);
  expect(stdout).toContain(`export KUBECONFIG=${dataDir}/kubeconfig`);
});

test("a kubeconfig of another user or without rights is never touched, and up says so", async () => {
  const home = folder();
  const config = join(home, ".kube/config");
  mkdirSync(join(home, ".kube"));
  writeFileSync(config, "theirs");
  if (USER.uid === undefined) chmodSync(config, 0o000);
  else chownSync(join(home, ".kube"), USER.uid, USER.gid);

  const { code, stdout } = await up(home, join(folder(), "state"));

  if (USER.uid === undefined) chmodSync(config, 0o600);
  expect(code).toBe(0);
  expect(stdout).toMatch(/The kubeconfig was left alone: .*\/\.kube\/config /);
  expect(readFileSync(config, "utf8")).toBe("theirs");
});

test("piped output has neither colours nor a live line", async () => {
  const home = folder();

  const { stdout, stderr } = await up(home, join(home, "state"));

  expect(stdout).toContain(`context "setpoint" in ~/.kube/config`);
  expect(stdout + stderr).not.toContain("\u001b");
  expect(stdout).not.toContain("…");
});

/** Starts a cluster in the background, and ends it with the test. */
function up(home: string, dataDir: string): Promise<Outcome> {
  onTestFinished(async () => void (await setpoint(home, "down", "--data-dir", dataDir)));
  return setpoint(home, "up", "-d", "--nodes", "0", "--data-dir", dataDir, "--listen", "127.0.0.1:0");
}

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function setpoint(home: string, ...args: readonly string[]): Promise<Outcome> {
  const { KUBECONFIG: _, SETPOINT_HOME: __, ...inherited } = process.env;
  const path = [folderWithKubectl(), inherited["PATH"]].join(delimiter);
  const options = { env: { ...inherited, HOME: home, PATH: path }, cwd: tmpdir(), ...USER };
  return new Promise((resolve) => {
    execFile(process.execPath, [PROGRAM, ...args], options, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
    });
  });
}

/** `up` only looks whether there is a kubectl, and then names commands of kubectl. */
function folderWithKubectl(): string {
  const path = folder();
  writeFileSync(join(path, "kubectl"), "", { mode: 0o755 });
  return path;
}

/** A folder of the user that runs the program. */
function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "setpoint-hard-"));
  if (USER.uid !== undefined) chownSync(path, USER.uid, USER.gid);
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
