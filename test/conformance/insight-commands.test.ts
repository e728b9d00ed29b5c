/** `setpoint watch`, `top` and `drift` as commands: what they print without a terminal, and their exit codes. */
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Event, Pod } from "../../src/api/generated/types/core-v1.ts";
import { silentLog } from "../../src/base/log/log.ts";
import { runCli } from "../../src/cli/cli.ts";
import { startCluster, type Cluster } from "../../src/cluster/in-program/start-cluster.ts";

describe("without a terminal", () => {
  let cluster: Cluster;
  let kubeconfig = "";

  beforeAll(async () => {
    cluster = await startCluster({ nodes: 2 });
    kubeconfig = await cluster.kubeconfig();
    const resources = { requests: { cpu: "99" } };
    await cluster.client(Pod).create({
      metadata: { name: "giant" },
      spec: { containers: [{ name: "app", image: "app", resources }] },
    });
    await cluster.until(() => cluster.objects(Pod).some(({ status }) => status.conditions !== undefined));
  });
  afterAll(() => cluster.stop());

  async function run(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    const printed = { code: -1, stdout: "", stderr: "" };
    await runCli([...args, "--kubeconfig", kubeconfig], {
      stdout: (text) => (printed.stdout += text),
      stderr: (text) => (printed.stderr += text),
      exit: (code) => (printed.code = code),
      log: silentLog,
      env: { LANG: "C" },
      streams: () => ({ stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }),
      homeDir: "/home/user",
      workingDir: "/current",
      programFile: "setpoint",
      signal: new AbortController().signal,
    });
    return printed;
  }

  test("watch says what to do", async () => {
    expect(await run("watch")).toEqual({
      code: 1,
      stdout: "",
      stderr: "error: watch needs a terminal for input and output: print one picture with --once\n",
    });
  });

  test("watch --once prints one picture", async () => {
    const { code, stdout } = await run("watch", "--once");

    expect(code).toBe(0);
    expect(stdout).toMatch(/^\* setpoint {2}2 nodes {2}1 pod {2}P 1 unscheduled/);
    expect(stdout).toMatch(
      /\+ unscheduled -+ 1 \+\n\| P .*\n\+-+\+\n\+ node-1 -+ empty \+ \+ node-2 -+ empty \+/,
    );
    expect(stdout).toMatch(/FailedScheduling +Pod giant/);
  });

  test("watch --once -l shows only pods with these labels", async () => {
    expect((await run("watch", "--once", "-l", "app=none")).stdout).toMatch(/0 pods/);
  });

  test("timeline weaves the Events of the object in", async () => {
    const { stdout } = await run("timeline", "pod/giant");

    expect(stdout).toMatch(/created Pod giant\n[^]* event +Warning FailedScheduling: 0\/2 nodes/);
  });

  test("replay from before the first write begins with it, and says so", async () => {
    const { code, stdout, stderr } = await run("replay", "--from", "-100h", "-n", "default");

    expect([code, stderr]).toEqual([
      0,
      "note: the story begins with the first write that this server remembers\n",
    ]);
    expect(stdout).toMatch(/ created Pod giant\n/);
  });

  test("drift --older-than fails when there is something, and names it", async () => {
    const old = await run("drift", "--older-than", "0s");
    const young = await run("drift", "--older-than", "1h");
    const wrong = await run("drift", "--older-than", "soon");

    expect(old.code).toBe(1);
    expect(old.stdout).toMatch(/^OBJECT .*\nPod default\/giant +Pending/);
    expect(old.stderr).toBe("error: objects that differ for longer: 1; ask setpoint why about them\n");
    expect(young).toEqual({ code: 0, stdout: "Everything is as desired.\n", stderr: "" });
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      'error: --older-than must be a duration such as 5m, found "soon"\n',
    ]);
  });

  test("no command passes control characters of an object on to the terminal", async () => {
    const message = "gone\u001B[2J\u001B]0;owned\u0007\r\nPod default/giant is fine\u009B31m\u202E";
    await cluster.client(Event).create({
      metadata: { name: "loud", namespace: "default" },
      involvedObject: { apiVersion: "v1", kind: "Pod", name: "giant", namespace: "default" },
      ...{ type: "Warning", reason: "Loud", message, lastTimestamp: new Date().toISOString() },
    });
    const commands = [
      ["events"],
      ["get", "events"],
      ["get", "events", "-o", "yaml"],
      ["why", "pod/giant"],
      ["timeline", "pod/giant"],
      ["watch", "--once"],
      ["get", "pod", "no\u001B[31mpe"],
    ];

    const printed = await Promise.all(commands.map((args) => run(...args)));

    expect(printed[0]?.stdout).toContain("gone^[[2J^[]0;owned^G...");
    for (const { stdout, stderr } of printed) {
      expect(stdout + stderr).not.toMatch(/(?!\n)[\p{Cc}\u202E]|^Pod default\/giant is/mu);
    }
  });

  test("top loops --once prints a reading, and --json the figures", async () => {
    const text = await run("top", "loops", "--once", "--interval", "0.1");
    const json = await run("top", "loops", "--json", "--interval", "0.1");
    const { loops } = JSON.parse(json.stdout) as { readonly loops: readonly object[] };

    expect(text.stdout).toMatch(/^CONTROLLER +QUEUE .*\n[^]*^replicaset-controller +0 /m);
    expect(loops[0]).toHaveProperty("passesPerSecond");
    expect((await run("top", "pods")).code).toBe(2);
  });
});
