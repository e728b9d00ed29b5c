/** `setpoint up -d`, `list`, `logs` and `down --delete` as a user types them, with a home folder of the test's own. */
import { execFile } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { Node } from "../../src/api/generated/types/core-v1.ts";
import { connect } from "../../src/client/connection.ts";

const PROGRAM = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

describe("a named cluster in the background", () => {
  test("is started, listed, logged, stopped and deleted, and the kubeconfig is as before", async () => {
    const home = new Home();
    const before = "current-context: work\ncontexts:\n- name: work\n  context: {cluster: w, user: w}\n";
    mkdirSync(join(home.path, ".kube"));
    writeFileSync(home.kubeconfig, before);

    const up = await home.run("up", "-d", "--name", "dev", "--nodes", "1", "--listen", "127.0.0.1:0");
    const merged = parse(readFileSync(home.kubeconfig, "utf8")) as unknown;
    const [list, status, logs] = await Promise.all([
      home.run("list"),
      home.run("status", "--name", "dev", "--json"),
      home.run("logs", "--name", "dev", "--tail", "1000"),
    ]);
    const second = await home.run("up", "-d", "--name", "dev");
    const down = await home.run("down", "--name", "dev", "--delete", "--yes");

    expect(up).toMatchObject({ code: 0, stderr: "" });
    expect(up.stdout).toMatch(
      /^✔ store opened .*\n✔ API serving .*\n✔ 1 node ready .*\nSetpoint \S+ is ready · /,
    );
    expect(up.stdout).toContain('context "dev" in ~/.kube/config');
    expect(merged).toMatchObject({
      "current-context": "work",
      contexts: [{ name: "work" }, { name: "dev", context: { cluster: "dev", user: "dev" } }],
    });
    expect(list.stdout).toMatch(/^NAME .*\ndev +ready +https:\S+ +~\/\.setpoint\/clusters\/dev\n$/);
    expect(JSON.parse(status.stdout)).toMatchObject({ state: "ready", name: "dev" });
    expect(logs.stdout).toMatch(/^kubelet +2\S+ info {2}kubelet starts /m);
    expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining("runs a cluster in") as string });
    expect(down).toMatchObject({ code: 0, stderr: "" });
    expect(parse(readFileSync(home.kubeconfig, "utf8"))).toEqual({ ...(parse(before) as object), ...EMPTY });
    expect(existsSync(join(home.path, ".setpoint/clusters/dev"))).toBe(false);
  });

  test("that was killed goes with its context", async () => {
    const home = new Home();
    const { stdout } = await home.run("up", "-d", "--nodes", "0", "--listen", "127.0.0.1:0", "--json");
    const ready = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "") as { event: string; dataDir: string };
    const { pid } = JSON.parse(readFileSync(join(ready.dataDir, "running.json"), "utf8")) as { pid: number };
    process.kill(pid, "SIGKILL");
    await expect.poll(async () => (await home.run("status")).code).toBe(1);

    const down = await home.run("down");

    expect(ready.event).toBe("ready");
    expect(down).toMatchObject({ code: 0, stderr: "" });
    expect(readFileSync(home.kubeconfig, "utf8")).not.toContain("name: setpoint");
    expect(readdirSync(ready.dataDir)).not.toContain("running.json");
  });

  test("that cannot start says why", async () => {
    const home = new Home();

    const { code, stderr } = await home.run("up", "-d", "--listen", "192.0.2.1:1");

    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: "error: 192.0.2.1 is not an address of this machine: choose another with --listen\n",
    });
  });

  test("is deleted only when the user says so, and never with files of others", async () => {
    const home = new Home();
    const dataDir = join(home.path, "data");
    for (const name of ["pki", "process/pods", "volumes/data"])
      mkdirSync(join(dataDir, name), { recursive: true });
    writeFileSync(join(dataDir, "instance"), "setpoint-1\n");
    writeFileSync(join(dataDir, "notes.txt"), "mine");

    const asked = await home.run("down", "--data-dir", dataDir, "--delete");
    const yes = await home.run("down", "--data-dir", dataDir, "--delete", "--yes");

    expect(asked).toMatchObject({ code: 2, stderr: "error: --delete without a terminal needs --yes\n" });
    expect(yes.stdout).toContain("Files of others stay: notes.txt.");
    expect(readdirSync(dataDir)).toEqual(["notes.txt"]);
  });

  test("is deleted only from a folder of its own", async () => {
    const home = new Home();
    const [foreign, real, link] = ["kubernetes", "real", "link"].map((name) => join(home.path, name)) as [
      string,
      string,
      string,
    ];
    for (const folder of [foreign, real, home.path]) mkdirSync(join(folder, "pki"), { recursive: true });
    for (const folder of [real, home.path]) writeFileSync(join(folder, "instance"), "setpoint-1\n");
    symlinkSync(real, link);
    const down = async (dataDir: string): Promise<string> =>
      (await home.run("down", "--data-dir", dataDir, "--delete", "--yes")).stderr;

    expect(await down(foreign)).toBe(
      `error: ${foreign} has no file instance, so no cluster of setpoint has run there: delete it yourself\n`,
    );
    expect(await down(link)).toBe(
      `error: ${link} is a link to ${real}: name that folder with --data-dir if it is meant\n`,
    );
    expect(await down(home.path)).toBe(
      `error: ${home.path} has more than a cluster: delete the cluster's files in it yourself\n`,
    );
    for (const folder of [foreign, real, home.path]) expect(existsSync(join(folder, "pki"))).toBe(true);
  });
});

test("fewer nodes than before remove the surplus ones, down to none; status counts them", async () => {
  const home = new Home();
  const up = (nodes: number): Promise<Outcome> =>
    home.run("up", "-d", "--nodes", String(nodes), "--listen", "127.0.0.1:0");
  const counts: (string | undefined)[] = [];

  for (const nodes of [3, 1, 0]) {
    await up(nodes);
    const names = Array.from({ length: nodes }, (_, index) => `node-${String(index + 1)}`);
    await expect.poll(() => home.nodes()).toEqual(names);
    const { stdout } = await home.run("status");
    counts.push(/^ {2}nodes +(.*)$/m.exec(stdout)?.[1]);
    await home.run("down");
  }

  expect(counts).toEqual(["3", "1", "none; pods stay Pending"]);
});

test("two starts of one cluster at once leave one running, and the other names it", async () => {
  const home = new Home();
  const start = (): Promise<Outcome> =>
    home.run("up", "-d", "--nodes", "0", "--store", "memory", "--listen", "127.0.0.1:0");

  const outcomes = await Promise.all([start(), start()]);
  await home.run("down");

  expect(outcomes.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([0, 1]);
  expect(outcomes.find(({ code }) => code === 1)?.stderr).toContain("runs a cluster in");
});

/** Lists that the merge made, and that stay empty. */
const EMPTY = { apiVersion: "v1", kind: "Config", clusters: [], users: [] };

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Home folder of a user; its clusters end with the test. */
class Home {
  readonly path = mkdtempSync(join(tmpdir(), "setpoint-home-"));

  constructor() {
    onTestFinished(async () => {
      await this.run("down");
      await this.run("down", "--name", "dev");
      rmSync(this.path, { recursive: true, force: true });
    });
  }

  get kubeconfig(): string {
    return join(this.path, ".kube", "config");
  }

  /** Names of the nodes of the default cluster. */
  async nodes(): Promise<readonly string[]> {
    await using connection = await connect({ file: join(this.path, ".setpoint/kubeconfig") });
    const { items } = await connection.client(Node).list();
    return items.map(({ metadata }) => metadata.name);
  }

  run(...args: readonly string[]): Promise<Outcome> {
    const { KUBECONFIG: _, SETPOINT_HOME: __, ...inherited } = process.env;
    const env = { ...inherited, HOME: this.path };
    return new Promise((resolve) => {
      execFile(process.execPath, [PROGRAM, ...args], { env }, (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
      });
    });
  }
}
