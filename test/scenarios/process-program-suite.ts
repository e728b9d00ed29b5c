/** Programs that behave badly, and the surroundings that every process pod gives them. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import type { Isolation } from "../../src/agent/process/isolation.ts";
import { listProcesses } from "../../src/agent/process/process-table.ts";
import { readIdentity } from "../../src/agent/process/run-folder.ts";
import { hasProcess, ProcessWorld, UID } from "./process-world.ts";

export function processProgramSuite(isolation: Isolation): void {
  describeStarts(isolation);
  describeEnds(isolation);
  describeAgentEnds(isolation);
  describeExec(isolation);
  describeAttach(isolation);
}

function describeStarts(isolation: Isolation): void {
  test("shows nothing of the agent's environment to a program and to commands beside it", async () => {
    process.env["SETPOINT_TEST_SECRET"] = "of the agent";
    onTestFinished(() => {
      delete process.env["SETPOINT_TEST_SECRET"];
    });
    await using world = await ProcessWorld.open(isolation);
    // In a PID namespace the first process is the one that starts the program.
    const show = "tr '\\0' '\\n' </proc/$PPID/environ; env";
    world.start(["sh", "-c", `${show}; echo shown; exec sleep 1000`]);
    await world.until("it has shown", async () => (await world.log()).includes("shown"));

    const { output, end } = await world.exec(["sh", "-c", show]);

    expect(end).toEqual({ type: "exited", exitCode: 0 });
    expect(await world.log()).not.toContain("SETPOINT_TEST_SECRET");
    expect(output).toContain("PATH=");
    expect(output).not.toContain("SETPOINT_TEST_SECRET");
  });

  test("does not show its variables in the arguments of a process while a command runs beside it", async () => {
    await using world = await ProcessWorld.open(isolation);
    const secret = `hidden-${String(process.pid)}`;
    world.start(["sleep", "1000"], { env: new Map([["PASSWORD", secret]]) });
    await world.report("started");

    const request = { command: ["cat"], stdin: true, stdout: true, stderr: true, tty: false };
    const session = world.handler.exec({ uid: UID, container: "main" }, request);
    session.stdin?.write("line\n");
    await once(session.stdout as Readable, "data");
    const found = listProcesses().filter((row) => row.arguments.includes(secret));
    session.stdin?.end();

    expect(found).toEqual([]);
    expect(await session.ended).toEqual({ type: "exited", exitCode: 0 });
  });

  test.each([
    [["no-such-program"], 'exec: "no-such-program": executable file not found in $PATH'],
    [["/no/such/file"], 'exec: "/no/such/file": stat /no/such/file: no such file or directory'],
    [["/etc/passwd"], 'exec: "/etc/passwd": permission denied'],
    [["/etc"], 'exec: "/etc": is a directory'],
  ])("fails to start %j, and says why", async (command, message) => {
    await using world = await ProcessWorld.open(isolation);

    world.start(command);

    expect(await world.report("start-failed")).toMatchObject({ reason: "RunContainerError", message });
  });

  test("fails to start in a missing working directory", async () => {
    await using world = await ProcessWorld.open(isolation);

    world.start(["true"], { workingDir: "/no/such/folder" });

    const { message } = await world.report("start-failed");
    expect(message).toBe("working directory /no/such/folder does not exist");
  });

  test("keeps output up to the last byte, and both streams", async () => {
    await using world = await ProcessWorld.open(isolation);

    const log = await world.run(["sh", "-c", "echo one; echo two >&2; printf end"]);

    expect(log.split("\n").toSorted()).toEqual(["end", "one", "two"]);
    expect(await world.log({ stream: "Stderr" })).toBe("two\n");
  });
}

function describeEnds(isolation: Isolation): void {
  test("ends grandchildren that left its session", async () => {
    await using world = await ProcessWorld.open(isolation);
    const mark = `31536000.${String(process.pid)}`;

    world.start(["sh", "-c", `setsid sh -c 'sleep ${mark} & sleep ${mark} & exit 0'; sleep 0.3; exit 4`]);

    expect(await world.report("exited")).toMatchObject({ exitCode: 4 });
    await world.until("nothing is left", () => !hasProcess(mark));
  });

  test("ends when its shim is killed, and leaves nothing", async () => {
    await using world = await ProcessWorld.open(isolation);
    const mark = `31536001.${String(process.pid)}`;
    world.start(["sh", "-c", `echo begun; sleep ${mark}; true`]);
    await world.report("started");
    await world.until("it writes", async () => (await world.log()) === "begun\n");

    const path = join(world.machine.folder, "process/pods", UID, "containers/main/0/shim");
    process.kill(readIdentity(path)?.pid ?? 0, "SIGKILL");

    expect(await world.report("exited")).toMatchObject({ exitCode: 137 });
    expect(hasProcess(mark)).toBe(false);
    expect(await world.log()).toBe("begun\n");
  });

  test("gets signals as an ordinary program does", async () => {
    await using world = await ProcessWorld.open(isolation);
    world.start(["sh", "-c", "trap 'echo stopping; exit 5' INT; echo ready; while :; do sleep 0.05; done"]);
    await world.until("it is ready", async () => (await world.log()) === "ready\n");

    world.handler.stop({ uid: UID, container: "main" }, { signal: "SIGINT", graceMs: 20_000 });

    expect(await world.report("exited")).toMatchObject({ exitCode: 5 });
    expect(await world.log()).toBe("ready\nstopping\n");
  });

  test("that floods its log keeps a bounded log and its newest lines", async () => {
    const logLimits = { maxFileBytes: 200_000, maxFiles: 2 };
    await using world = await ProcessWorld.open(isolation, { logLimits });

    const log = await world.run(["sh", "-c", "seq 1 100000; echo last"]);

    expect(log.length).toBeGreaterThan(20_000);
    expect(log.length).toBeLessThan(700_000);
    const lines = log.trimEnd().split("\n");
    expect(lines.at(-1)).toBe("last");
    const numbers = lines.slice(0, -1).map(Number);
    expect(numbers.every((number, index) => index === 0 || number === (numbers[index - 1] ?? 0) + 1)).toBe(
      true,
    );
  });
}

function describeAgentEnds(isolation: Isolation): void {
  test("is ended with the handler, if that is wanted", async () => {
    const mark = `31536002.${String(process.pid)}`;
    await using world = await ProcessWorld.open(isolation, { endPods: { signal: "SIGTERM", graceMs: 2000 } });
    world.start([
      "sh",
      "-c",
      `sleep ${mark} & trap 'echo ended; exit 0' TERM; echo ready; while :; do sleep 0.05; done`,
    ]);
    await world.until("it is ready", async () => (await world.log()) === "ready\n");

    await world.end();

    expect(hasProcess(mark)).toBe(false);
    expect(world.machine.processes()).toEqual([]);
    const found = await world.restart();
    expect(found?.containers).toMatchObject([{ name: "main", exit: { exitCode: 0 } }]);
  });

  test("is not started by a handler that has ended", async () => {
    await using world = await ProcessWorld.open(isolation, { endPods: { signal: "SIGTERM", graceMs: 2000 } });
    const mark = `31536004.${String(process.pid)}`;

    await world.end();
    world.start(["sleep", mark]);
    await world.settle();

    expect(world.machine.processes()).toEqual([]);
    expect(hasProcess(mark)).toBe(false);
  });

  test("ends by itself when its agent stays away", async () => {
    const mark = `31536003.${String(process.pid)}`;
    await using world = await ProcessWorld.open(isolation, { patience: { lookSeconds: 1, looks: 2 } });
    // A daemon of the program has no parent that leads to it.
    world.start(["sh", "-c", `setsid sh -c 'sleep ${mark} & exit 0'; echo ready; exec sleep ${mark}`]);
    await world.until("it is ready", async () => (await world.log()) === "ready\n");

    await world.end();
    writeFileSync(join(world.machine.folder, "process/agent"), "1 0\n");

    await world.until("it has ended", () => !hasProcess(mark));
    expect((await world.restart())?.containers).toMatchObject([{ exit: { exitCode: 137 } }]);
  });
}

function describeExec(isolation: Isolation): void {
  test("runs other programs beside it, with its environment and its end", async () => {
    await using world = await ProcessWorld.open(isolation);
    const env = new Map([
      ["PATH", "/usr/bin:/bin"],
      ["WORD", "it's"],
      ["a.b", "dot"],
    ]);
    world.start(["sleep", "1000"], { env, workingDir: "/tmp" });
    await world.report("started");

    const { output, end } = await world.exec(["sh", "-c", "echo $WORD; pwd; cat; exit 3"], "in\n");

    expect(output).toBe("it's\n/tmp\nin\n");
    expect(end).toEqual({ type: "exited", exitCode: 3 });
    expect((await world.exec(["env"])).output).toContain("a.b=dot\n");
    const missing = await world.exec(["no-such-program"]);
    expect(missing.end).toMatchObject({
      type: "failed",
      message: expect.stringContaining("not found in $PATH") as string,
    });
  });

  test("runs programs on a terminal, with a size that comes late", async () => {
    await using world = await ProcessWorld.open(isolation);
    world.start(["sleep", "1000"]);
    await world.report("started");
    const command = ["sh", "-c", 'until [ "$(stty size)" = "17 91" ]; do sleep 0.02; done; tty; exit 3'];
    const request = { command, stdin: true, stdout: true, stderr: false, tty: true };

    const session = world.handler.exec({ uid: UID, container: "main" }, request);
    session.resize({ columns: 91, rows: 17 });
    let output = "";
    for await (const piece of session.stdout ?? []) output += String(piece);

    expect(await session.ended).toEqual({ type: "exited", exitCode: 3 });
    expect(output).toMatch(/\/dev\/pts\/\d+|not a tty/);
  });

  test.each([
    ["", "left behind"],
    ["setsid", "left its session"],
  ])("ends what a program beside it %s %s, when the client leaves", async (word) => {
    await using world = await ProcessWorld.open(isolation);
    const mark = `3153601${String(word.length)}.${String(process.pid)}`;
    world.start(["sleep", "1000"]);
    await world.report("started");
    const command = ["sh", "-c", `${word} sleep ${mark} & echo begun`];
    const request = { command, stdin: false, stdout: true, stderr: true, tty: false };

    const session = world.handler.exec({ uid: UID, container: "main" }, request);
    session.stdout?.once("data", () => session.close());

    expect(await session.ended).toMatchObject({ type: "exited" });
    if (word === "") await world.until("nothing is left", () => !hasProcess(mark));
  });
}

function describeAttach(isolation: Isolation): void {
  test("passes input to its program, and shows output as it comes", async () => {
    await using world = await ProcessWorld.open(isolation);
    world.start(["sh", "-c", 'read -r name; echo "hello $name"; cat; echo end'], {
      stdin: true,
      stdinOnce: true,
    });
    await world.report("started");
    const request = { stdin: true, stdout: true, stderr: true, tty: false };

    const session = world.handler.attach({ uid: UID, container: "main" }, request);
    let output = "";
    session.stdout?.on("data", (piece) => (output += String(piece)));
    session.stdin?.write("world\nmore\n");
    await world.until("it answers", () => output === "hello world\nmore\n");
    session.stdin?.end();

    expect(await session.ended).toEqual({ type: "exited", exitCode: 0 });
    expect(output).toBe("hello world\nmore\nend\n");
  });
}
