/** Programs that behave badly, and the surroundings that process pods give them. */
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo, type Server } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ApiAddress } from "../../src/agent/process/api-gateway.ts";
import type { Isolation } from "../../src/agent/process/isolation.ts";
import { isAlive, listProcesses, signalGroup } from "../../src/agent/process/process-table.ts";
import { readIdentity } from "../../src/agent/process/run-folder.ts";
import { silentLog } from "../../src/base/log/log.ts";
import { namespacesHere, SHARED } from "../conformance/process-machine.ts";
import { ProcessWorld, UID } from "./process-world.ts";

const namespaces = await namespacesHere();
const hasNamespaces = namespaces.type === "namespaces";
const KINDS = [
  { kind: "with namespaces", isolation: namespaces, skip: reasonOf(namespaces) },
  {
    kind: "on a shared network",
    isolation: SHARED,
    skip: process.platform === "win32" ? "needs a POSIX system" : "",
  },
];

for (const { kind, isolation, skip } of KINDS)
  describe.skipIf(skip !== "")(`a process pod ${kind} ${skip}`, () => {
    badPrograms(isolation);
  });

function reasonOf(isolation: Isolation): string {
  return isolation.type === "shared" ? `(needs namespaces: ${isolation.reason})` : "";
}

function badPrograms(isolation: Isolation): void {
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

  test("ends by itself when its agent stays away", async () => {
    const mark = `31536003.${String(process.pid)}`;
    await using world = await ProcessWorld.open(isolation, { patience: { lookSeconds: 1, looks: 2 } });
    world.start(["sleep", mark]);
    await world.report("started");

    writeFileSync(join(world.machine.folder, "process/agent"), "1 0\n");

    await world.until("it has ended", () => !hasProcess(mark));
    expect(await world.report("exited")).toMatchObject({ exitCode: 137 });
  });
}

describe.skipIf(!hasNamespaces)(`the namespaces of a process pod ${reasonOf(namespaces)}`, () => {
  test("hide the data dir, other processes and the machine's name", async () => {
    await using world = await ProcessWorld.open(namespaces);

    const log = await world.run([
      "sh",
      "-c",
      `ls -A ${world.machine.folder} | wc -l; ls /proc | grep -c '^[0-9]'; cat /proc/sys/kernel/hostname`,
    ]);

    const [files, processes, name] = log.trim().split("\n");
    expect(files).toBe("0");
    expect(Number(processes)).toBeLessThan(8);
    expect(name).toBe("web-0");
  });

  test("let several pods listen on one port, which the machine reaches", async () => {
    await using one = await ProcessWorld.open(namespaces);
    one.start([process.execPath, "-e", SERVER]);
    await one.until("it listens", async () => (await one.log()) === "listening\n");

    const socket = await one.handler.portForward(UID, 8080);

    socket.end("GET / HTTP/1.0\r\n\r\n");
    let answer = "";
    for await (const piece of socket) answer += String(piece);
    expect(answer).toContain("from web-0");
    expect(one.addresses[0]).toMatch(/^10\.199\.9\./);
  });

  test("show volumes at their paths, and leave no trace of them on the machine", async () => {
    await using world = await ProcessWorld.open(namespaces);
    const volume = join(world.machine.folder, "volume");
    mkdirSync(volume);
    writeFileSync(join(volume, "file"), "content\n");
    const mount = { volume: "v", hostPath: volume, propagation: "None" } as const;
    const paths = ["/etc/setpoint-test/config", "/setpoint-test-root/data", "/var/run/secrets/setpoint-test"];

    await world.run(
      [
        "sh",
        "-c",
        `cat ${paths.map((path) => `${path}/file`).join(" ")}; echo new >${String(paths[1])}/made; echo x >${String(paths[0])}/file`,
      ],
      {
        mounts: paths.map((containerPath, index) => ({ ...mount, containerPath, readOnly: index === 0 })),
      },
    );

    expect(await world.log({ stream: "Stdout" })).toBe("content\n".repeat(paths.length));
    expect(await world.log({ stream: "Stderr" })).toMatch(/Read-only file system/i);
    expect(readFileSync(join(volume, "made"), "utf8")).toBe("new\n");
    expect(
      ["/etc/setpoint-test", "/setpoint-test-root", "/run/secrets/setpoint-test"].map(existsSync),
    ).toEqual([false, false, false]);
  });

  test("share one way to the API server when they start together", async () => {
    await using api = await GreetedApi.open();
    const warnings: unknown[] = [];
    const log = { ...silentLog, warn: (...line: unknown[]) => warnings.push(line) };
    await using world = await ProcessWorld.start(namespaces, { api: api.address, log });
    const uids = ["one", "two", "three"];

    for (const uid of uids) world.handler.createSandbox(world.spec({}, uid));
    for (const uid of uids) await world.untilReady(uid);
    for (const uid of uids) world.start(api.greet(uid), { uid, logPath: join(world.machine.folder, uid) });

    await world.until("all have reached the API server", () => api.greetings.length === uids.length);
    expect(api.greetings.toSorted()).toEqual(uids.toSorted());
    expect(warnings).toEqual([]);
    for (const uid of uids) await world.remove(uid);
  });

  test("reach the API server again after their network was lost", async () => {
    await using api = await GreetedApi.open();
    await using world = await ProcessWorld.open(namespaces, { api: api.address });
    for (const folder of ["network", `pods/${UID}`]) {
      const holder = readIdentity(join(world.machine.folder, "process", folder, "holder"));
      signalGroup(holder?.pid ?? 0, "SIGKILL");
      await world.until("the holder has ended", () => holder !== undefined && !isAlive(holder));
    }

    world.start(api.greet("again"));

    await world.until("it has reached the API server", () => api.greetings.length > 0);
    expect(api.greetings).toEqual(["again"]);
  });

  test("run the program as another user", async () => {
    await using world = await ProcessWorld.open(namespaces);

    const log = await world.run(["id"], { user: { uid: 65_534, gid: 65_533, supplementalGroups: [7] } });

    expect(log).toMatch(/^uid=65534\S* gid=65533\S* groups=65533\S*,7/);
  });
});

describe.skipIf(process.platform === "win32")("a process pod on a shared network", () => {
  test("finds its ports in its environment, and is reached at them by the pod's port", async () => {
    await using world = await ProcessWorld.open(SHARED);
    const ports = [{ name: "web", containerPort: 80, hostPort: undefined, protocol: "TCP" }] as const;
    world.start([process.execPath, "-e", SERVER.replace("8080", "+process.env.PORT_WEB")], { ports });
    await world.until("it listens", async () => (await world.log()) === "listening\n");

    const socket = await world.handler.portForward(UID, 80);

    socket.end("GET / HTTP/1.0\r\n\r\n");
    let answer = "";
    for await (const piece of socket) answer += String(piece);
    expect(answer).toContain("from ");
  });

  test("refuses volumes at absolute paths, and says what helps", async () => {
    await using world = await ProcessWorld.open(SHARED);
    const mount = {
      volume: "v",
      hostPath: world.machine.folder,
      containerPath: "/etc/config",
      readOnly: false,
    };

    world.start(["true"], { mounts: [{ ...mount, propagation: "None" }] });

    const { message } = await world.report("start-failed");
    expect(message).toMatch(/^cannot mount at \/etc\/config: .* run setpoint as root on Linux/);
  });
});

const SERVER =
  'require("http").createServer((q,s)=>s.end("from "+require("os").hostname())).listen(8080,()=>console.log("listening"))';

/** A server at the address of the Service `kubernetes` that notes what its clients say. */
class GreetedApi implements AsyncDisposable {
  readonly greetings: string[] = [];
  readonly address: ApiAddress;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    const { port } = server.address() as AddressInfo;
    this.address = {
      service: { address: "10.96.0.1", port: 443 },
      server: { host: "127.0.0.1", port },
    };
    server.on("connection", (socket) => socket.on("data", (chunk) => this.greetings.push(String(chunk))));
  }

  static async open(): Promise<GreetedApi> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    return new GreetedApi(server);
  }

  /** Command of a pod that says the word to the API server. */
  greet(word: string): readonly string[] {
    const { address, port } = this.address.service;
    const script = 'require("net").connect(+process.argv[2],process.argv[1]).end(process.argv[3])';
    return [process.execPath, "-e", script, address, String(port), word];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function hasProcess(mark: string): boolean {
  return listProcesses().some((row) => row.arguments.includes(mark) && !row.arguments.includes("start.sh"));
}
