/**
 * The way of process pods to other networks, on a machine that the test makes: two network namespaces with a cable, of
 * which one is the machine and the other the world.
 */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { listProcesses, sendSignal } from "../../src/agent/process/process-table.ts";
import { namespacesHere } from "../conformance/process-machine.ts";
import { describePeer } from "../peers.ts";

const PROGRAM = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const POLL = { timeout: 30_000, interval: 100 };
const WORLD = "203.0.113.1";
const MACHINE = "203.0.113.2";
const isolation = await namespacesHere();
const hasRoot = isolation.type === "namespaces" && isolation.owner === "root";

/** Answers with the address that it sees. */
const SERVER = `require("net").createServer((s) => s.end(s.remoteAddress + "\\n")).listen(8080, "${WORLD}", () => console.log("up"))`;
/** Prints the answer of the world. */
const CLIENT = `
const ask = () => {
  const socket = require("net").connect(8080, "${WORLD}", () => socket.pipe(process.stdout));
  socket.on("error", () => setTimeout(ask, 100));
};
ask();
setInterval(() => {}, 1000);`;

describePeer("nft", "process pods and other networks", () => {
  describe.skipIf(!hasRoot)("as root", () => {
    describePods();
  });
});

function describePods(): void {
  test("reach them by the machine's address, which is as before at the end", async () => {
    const machine = await Machine.open();
    const cluster = await machine.start("one", "--pod-egress");

    cluster.createPod();

    await expect.poll(() => cluster.podLog(), POLL).toBe(`${MACHINE}\n`);
    expect(machine.settings()).toEqual({ forwarding: "1", tables: 1 });
    await cluster.end("SIGTERM");
    expect(machine.settings()).toEqual({ forwarding: "0", tables: 0 });
  });

  test("are reached no more after a kill and a start without the option", async () => {
    const machine = await Machine.open();
    const killed = await machine.start("one", "--pod-egress");
    killed.createPod();
    await expect.poll(() => killed.podLog(), POLL).toBe(`${MACHINE}\n`);

    await killed.end("SIGKILL");
    const forwarding = machine.settings().forwarding;
    const later = await machine.start("one");

    expect(forwarding).toBe("1");
    await expect.poll(() => machine.settings(), POLL).toEqual({ forwarding: "0", tables: 0 });
    await later.end("SIGTERM");
  });

  test("are reached until the last of two clusters ends", async () => {
    const machine = await Machine.open();
    const [one, two] = [
      await machine.start("one", "--pod-egress"),
      await machine.start("two", "--pod-egress"),
    ];
    for (const each of [one, two]) {
      each.createPod();
      await expect.poll(() => each.podLog(), POLL).toBe(`${MACHINE}\n`);
    }

    await one.end("SIGTERM");
    const between = machine.settings();
    await two.end("SIGTERM");

    expect(between).toEqual({ forwarding: "1", tables: 1 });
    expect(machine.settings()).toEqual({ forwarding: "0", tables: 0 });
  });
}

/** A network namespace that stands for this machine, with a `/run` of its own. */
class Machine {
  readonly #holder: ChildProcess;
  readonly folder = mkdtempSync(join(tmpdir(), "setpoint-egress-"));

  private constructor(holder: ChildProcess) {
    this.#holder = holder;
  }

  static async open(): Promise<Machine> {
    const own = "mount -t tmpfs tmpfs /run; ip link set lo up; echo ready; exec sleep 1000";
    const holder = await spawnUntil("ready", "unshare", ["--net", "--mount", "sh", "-c", own]);
    const world = await spawnUntil("ready", "unshare", ["--net", "sh", "-c", "echo ready; exec sleep 1000"]);
    const machine = new Machine(holder);
    onTestFinished(() => machine.#close());
    machine.run(`ip link add up0 type veth peer name up0 netns ${String(world.pid)}`);
    machine.run(`ip addr add ${MACHINE}/24 dev up0; ip link set up0 up; ip route add default via ${WORLD}`);
    runIn(world, `ip addr add ${WORLD}/24 dev up0; ip link set up0 up`);
    await spawnUntil("up", "nsenter", [...into(world), process.execPath, "-e", SERVER]);
    return machine;
  }

  run(command: string, input = ""): string {
    return runIn(this.#holder, command, input);
  }

  settings(): { readonly forwarding: string; readonly tables: number } {
    const tables = this.run("nft list tables")
      .split("\n")
      .filter((line) => line.includes("setpoint"));
    return { forwarding: this.run("cat /proc/sys/net/ipv4/ip_forward").trim(), tables: tables.length };
  }

  async start(name: string, ...options: readonly string[]): Promise<Cluster> {
    const dataDir = join(this.folder, name);
    const place = ["--data-dir", dataDir, "--kubeconfig", join(dataDir, "user"), "--listen", "127.0.0.1:0"];
    const words = [process.execPath, PROGRAM, "up", "--runtime", "process", "--json", ...place, ...options];
    const child = await spawnUntil('"event":"ready"', "nsenter", [...into(this.#holder), ...words]);
    return new Cluster(this, dataDir, child);
  }

  #close(): void {
    for (const row of listProcesses())
      if (row.arguments.includes(`${this.folder}/`)) sendSignal(row, "SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }
}

class Cluster {
  readonly #machine: Machine;
  readonly #dataDir: string;
  readonly #child: ChildProcess;

  constructor(machine: Machine, dataDir: string, child: ChildProcess) {
    this.#machine = machine;
    this.#dataDir = dataDir;
    this.#child = child;
  }

  createPod(): void {
    const container = { name: "main", image: "none", command: [process.execPath, "-e", CLIENT] };
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "asks" },
      spec: { containers: [container] },
    };
    this.#command("apply -f -", JSON.stringify(pod));
  }

  podLog(): string {
    // No log yet is no failure.
    return this.#command("logs pod/asks", "", "2>/dev/null || :");
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const ended = once(this.#child, "close");
    this.#child.kill(signal);
    await ended;
  }

  #command(words: string, input = "", end = ""): string {
    const place = `--data-dir ${this.#dataDir}`;
    return this.#machine.run(`${process.execPath} ${PROGRAM} ${words} ${place} ${end}`, input);
  }
}

/** Words that bring a command into the namespaces of a process. */
function into({ pid }: ChildProcess): readonly string[] {
  return [`--target=${String(pid)}`, "--net", "--mount", `--wd=${tmpdir()}`];
}

function runIn(holder: ChildProcess, command: string, input = ""): string {
  const { stdout, stderr, status } = spawnSync("nsenter", [...into(holder), "sh", "-c", command], {
    input,
    encoding: "utf8",
  });
  expect([status, stderr]).toEqual([0, ""]);
  return stdout;
}

/** The process, once it has printed the text; it ends with the test. */
async function spawnUntil(text: string, program: string, args: readonly string[]): Promise<ChildProcess> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  for await (const line of createInterface({ input: child.stdout })) if (line.includes(text)) return child;
  throw new Error(`${program} ended without ${text}`);
}
