import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { silentLog } from "../base/log/log.ts";
import { VERSION } from "../cluster/process/version.ts";
import { runCli } from "./cli.ts";
import { streamsWith } from "./streams-fixture.ts";

describe("runCli", () => {
  test("version names the program and the API it serves", async () => {
    expect(await run("version")).toEqual({
      code: 0,
      stdout: "setpoint 0.1.0 (Kubernetes API v1.36)\n",
      stderr: "",
    });
  });

  test("--version prints the same", async () => {
    expect(await run("--version")).toEqual(await run("version"));
  });

  test("version --json prints one JSON object", async () => {
    const { stdout } = await run("version", "--json");

    expect(JSON.parse(stdout)).toEqual({ version: "0.1.0", kubernetes: "v1.36" });
  });

  test("the version is the package's", () => {
    const manifest: unknown = JSON.parse(
      readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
    );

    expect(manifest).toMatchObject({ version: VERSION });
  });

  test("each command of the help prints its usage for --help, and succeeds", async () => {
    const { stdout: help } = await run("--help");
    const names = [...help.matchAll(/^ {2}(?<name>\w+) \[options\]/gm)].map(
      ({ groups }) => groups?.["name"] ?? "",
    );

    expect(names).toContain("up");
    for (const name of names) {
      const { code, stdout, stderr } = await run(name, "--help");
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toMatch(new RegExp(`^Usage: setpoint ${name} `));
    }
  });

  test.each([
    [[], "Usage: setpoint"],
    [["quux"], "error: unknown command 'quux'\n(see \"setpoint --help\")\n"],
    [["up", "--colour"], "unknown option '--colour'"],
    [["stauts"], "unknown command 'stauts'\n(Did you mean status?)"],
    [["up", "--data-dri", "x"], "unknown option '--data-dri'\n(Did you mean --data-dir?)"],
    [["completion", "tcsh"], "Allowed choices are bash, zsh, fish"],
    [["up", "--store", "tape"], "Allowed choices are file, memory, etcd"],
    [["up", "--listen", "6443"], '--listen must be HOST:PORT with a port from 0 to 65535, found "6443"'],
    [["up", "--store", "etcd"], "--store etcd needs --etcd-endpoints"],
    [["up", "--etcd-user", "root"], "--etcd-user is only for --store etcd"],
    [["up", "--pki-dir", ""], "option '--pki-dir <dir>' argument '' is invalid. It must be a path."],
    [["down", "--data-dir", ""], "option '--data-dir <dir>' argument '' is invalid. It must be a path."],
    [["help", "staus"], "unknown command 'staus'\n(Did you mean status?)"],
    [["why", ""], 'argument "kind/name" is empty: is a variable unset?'],
    [["up", "extra"], "too many arguments"],
    [["apiserver", "--nodes", "3"], "unknown option '--nodes'"],
    [["agent", "--nodes", "many"], '--nodes must be a number from 0 to 16000, found "many"'],
    [
      ["agent", "--node-prefix", "A"],
      "--node-prefix must be at most 50 lower-case letters, digits and dashes",
    ],
    [["controllers", "--pod-cidr", "ten"], "--pod-cidr must be a range"],
    [
      ["scheduler", "--leader-elect-lease-duration", "soon"],
      '--leader-elect-lease-duration must be a duration like 15s, found "soon"',
    ],
    [
      ["scheduler", "--leader-elect-renew-deadline", "20s"],
      "--leader-elect-lease-duration must be above --leader-elect-renew-deadline",
    ],
    [["backup"], "missing required argument 'file'"],
    [["backup", "--store", "memory", "x"], "Allowed choices are file, etcd"],
  ])("wrong usage %j exits with 2 and says why", async (argv, message) => {
    const { code, stdout, stderr } = await run(...argv);

    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
  });
});

describe("without a cluster", () => {
  test("status fails and says how to start one", async () => {
    expect(await run("status", "--data-dir", "/nowhere")).toEqual({
      code: 1,
      stdout: "",
      stderr: "error: no cluster runs in /nowhere: start one with setpoint up --data-dir /nowhere\n",
    });
  });

  test("an error is JSON with --json", async () => {
    const { code, stderr } = await run("status", "--data-dir", "/nowhere", "--json");

    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toEqual({
      error: "no cluster runs in /nowhere: start one with setpoint up --data-dir /nowhere",
    });
  });

  test.each([
    [["up", "--data-dri", "x", "--json"], "unknown option '--data-dri' (Did you mean --data-dir?)"],
    [
      ["up", "--store", "tape", "--json"],
      /^option '--store <type>' argument 'tape' is invalid\. Allowed choices/,
    ],
    [["down", "extra", "--json"], /^too many arguments for 'down'/],
    [["top", "--json"], /^missing required argument/],
    [["stauts", "--json"], /^unknown (?:command|option)/],
    [["describe", "pod", "a", "--json"], /is a verb of kubectl alone/],
  ])("wrong usage is one JSON line with --json: %j", async (argv, message) => {
    const { code, stdout, stderr } = await run(...argv);

    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^[^\n]+\n$/);
    const { error } = JSON.parse(stderr) as { readonly error: string };
    expect(error).toMatch(message);
  });

  test("status --json says it on stdout too", async () => {
    const { code, stdout } = await run("status", "--data-dir", "/nowhere", "--json");

    expect([code, JSON.parse(stdout)]).toEqual([1, { state: "stopped", dataDir: "/nowhere" }]);
  });

  test("down is a no-op", async () => {
    expect(await run("down", "--data-dir", "/nowhere")).toEqual({
      code: 0,
      stdout: "No cluster runs in /nowhere.\n",
      stderr: "",
    });
  });

  test.each(["controllers", "scheduler", "agent"])("%s says which kubeconfig is missing", async (part) => {
    expect(await run(part, "--kubeconfig", "none")).toEqual({
      code: 1,
      stdout: "",
      stderr: "error: there is no kubeconfig at /current/none\n",
    });
  });
});

async function run(...argv: readonly string[]) {
  const outcome = { code: -1, stdout: "", stderr: "" };
  await runCli(argv, {
    stdout: (text) => void (outcome.stdout += text),
    stderr: (text) => void (outcome.stderr += text),
    exit: (code) => void (outcome.code = code),
    log: silentLog,
    streams: () => streamsWith(),
    env: {},
    homeDir: "/home/user",
    workingDir: "/current",
    programFile: "/setpoint/dist/cli.js",
    signal: new AbortController().signal,
  });
  return outcome;
}
