/** `setpoint status`, `down` and `backup` against a running cluster in another process. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { connect } from "../../src/client/connection.ts";
import { isAlive } from "../../src/cluster/data-dir/run-file.ts";
import { Program } from "./kubectl/program.ts";

const loop = createRealLoop({ name: "test" });
const CLI = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

test("an older Node.js is told which one is needed", async () => {
  const older = 'data:text/javascript,Object.defineProperty(process.versions,"node",{value:"18.20.1"})';
  const child = spawn(process.execPath, ["--import", older, CLI, "version"]);
  let stderr = "";
  child.stderr.on("data", (text) => (stderr += String(text)));

  await once(child, "close");

  expect({ code: child.exitCode, stderr }).toEqual({
    code: 1,
    stderr: "error: setpoint needs Node.js 20.19 or later, this is v18.20.1\n",
  });
});

describe("a cluster with a data dir", () => {
  test("is ready at its place until it is ended, and ending it again does nothing", async () => {
    const dataDir = folder();
    const { server } = await up(dataDir).event("ready");

    const status = await output("status", dataDir);
    const down = await output("down", dataDir);
    const after = await output("status", dataDir);
    const again = await output("down", dataDir);

    expect(status).toMatchObject({ code: 0, value: { state: "ready", server, store: "memory", dataDir } });
    expect(status.value).toHaveProperty("revision", expect.any(Number));
    expect(down).toMatchObject({ code: 0, value: { dataDir, stopped: expect.any(Number) as unknown } });
    expect(after).toMatchObject({ code: 1, value: { state: "stopped" } });
    expect(again).toMatchObject({ code: 0, value: { dataDir, stopped: null } });
  });

  test("describes the fields of its kinds", async () => {
    const { kubeconfig = "" } = await up(folder()).event("ready");
    await using connection = await connect({ file: kubeconfig, loop });

    const { value } = await connection.transport.send({ method: "GET", path: "/openapi/v3/apis/apps/v1" });

    expect(value).toHaveProperty(
      ["components", "schemas", "io.k8s.api.apps.v1.DeploymentSpec", "properties", "replicas", "description"],
      "replicas is the desired number of pods; default 1.",
    );
  });

  test("that was killed does not run, and can be started again", async () => {
    const dataDir = folder();
    const first = up(dataDir);
    await first.event("ready");
    await first.end("SIGKILL");

    const status = await output("status", dataDir);
    await up(dataDir).event("ready");

    expect(status).toMatchObject({ code: 1, value: { state: "stopped" } });
  });

  test.runIf(process.platform === "linux")(
    "does not run when its process only waits to be buried",
    async () => {
      // After exec the parent is another program, which never reaps the child.
      const parent = spawn("sh", ["-c", "sleep 60 & echo $!; exec sleep 60"]);
      onTestFinished(() => void parent.kill("SIGKILL"));
      const [line] = (await once(parent.stdout, "data")) as [Buffer];
      const pid = Number(String(line));
      const record = { pid, begun: `${boot()}/${statusOf(pid)[19] ?? ""}`, store: "file" } as const;
      const before = await isAlive(record, loop);

      process.kill(pid, "SIGKILL");
      await expect.poll(() => statusOf(pid)[0]).toBe("Z");

      expect([before, await isAlive(record, loop)]).toEqual([true, false]);
    },
  );

  test.each(["memory", "file"])(
    "is refused to a second process, which is told the first: %s",
    async (store) => {
      const dataDir = folder();
      const first = up(dataDir, { store });
      await first.event("ready");

      const { code, stderr } = await up(dataDir, { store }).ended();

      expect(code).toBe(1);
      expect(errorIn(stderr)).toBe(
        `process ${String(first.pid)} runs a cluster in ${dataDir}: ` +
          `end it with setpoint down --data-dir ${dataDir}, or choose another --data-dir`,
      );
    },
  );

  test("whose process does not go on is told apart from one that is ready, and down gives up on it", async () => {
    const dataDir = folder();
    const program = up(dataDir);
    await program.event("ready");
    program.signal("SIGSTOP");

    const [status, down] = await Promise.all([output("status", dataDir), output("down", dataDir)]);
    program.signal("SIGCONT");

    expect(status).toMatchObject({ code: 1, value: { state: "unready" } });
    expect(down).toMatchObject({ code: 1, value: undefined });
    expect(errorIn(down.stderr)).toMatch(/^process \d+ has not ended within 5 s: kill -9 \d+ ends it /);
  });
});

describe("a part whose server is not there", () => {
  test("waits for it, and ends when it is told to", async () => {
    const dataDir = folder();
    const program = up(dataDir);
    const { kubeconfig = "" } = await program.event("ready");
    await program.end("SIGKILL");

    const scheduler = new Program("scheduler", "--kubeconfig", kubeconfig);
    await up(dataDir, { listen: new URL((await program.event("ready")).server ?? "").host }).event("ready");
    await scheduler.event("leading");

    expect(await scheduler.end("SIGTERM")).toEqual([0, null]);
  });
});

describe("a part whose server says nothing", () => {
  test("tells what it waits for, and gives up", async () => {
    const silent = createServer();
    onTestFinished(() => void silent.close());
    await once(silent.listen(0, "127.0.0.1"), "listening");
    const server = `http://127.0.0.1:${String((silent.address() as AddressInfo).port)}`;
    const kubeconfig = join(folder(), "kubeconfig");
    const contexts = [{ name: "it", context: { cluster: "it", user: "it" } }];
    const clusters = [{ name: "it", cluster: { server } }];
    const users = [{ name: "it", user: { token: "t" } }];
    writeFileSync(kubeconfig, JSON.stringify({ "current-context": "it", contexts, clusters, users }), {
      mode: 0o600,
    });

    const { code, stderr } = await new Program("scheduler", "--kubeconfig", kubeconfig).ended();

    expect(code).toBe(1);
    // A busy machine adds lines about steps that took long.
    const lines = stderr.trimEnd().split("\n");
    const [waiting = "", ...failure] = lines.filter(
      (line) => !line.includes("a step blocked the event loop"),
    );
    expect(waiting).toContain(`the server does not answer yet, trying again server=${server}`);
    expect(failure.map(errorIn)).toEqual([
      `no API server answers at ${server}: start it, or name another with --kubeconfig`,
    ]);
  });
});

describe("a module whose definitions are asked for", () => {
  test("does not keep the process by what it leaves open", async () => {
    const module = join(folder(), "kinds.mjs");
    writeFileSync(module, "setInterval(() => undefined, 1000);");

    const { code, stderr } = await new Program("crd", module).ended();

    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining("exports no kind") as string,
    });
  });

  test("is given up when it never ends and the process shall", async () => {
    const module = join(folder(), "kinds.mjs");
    const lines = [
      `console.log('{"event":"loading"}');`,
      "await new Promise((end) => setInterval(end, 1e8));",
    ];
    writeFileSync(module, lines.join("\n"));
    const program = new Program("crd", module);
    await program.event("loading");

    expect(await program.end("SIGTERM")).toEqual([1, null]);
  });
});

describe("a part with the kubeconfig of another cluster", () => {
  test("is told so at once", async () => {
    const [ours, theirs] = [await up(folder()).event("ready"), await up(folder()).event("ready")];
    const text = readFileSync(theirs.kubeconfig ?? "", "utf8");
    const mixed = join(folder(), "kubeconfig");
    writeFileSync(mixed, text.replace(theirs.server ?? "", ours.server ?? ""), { mode: 0o600 });

    const { code, stderr } = await new Program("scheduler", "--kubeconfig", mixed).ended();

    expect(code).toBe(1);
    expect(errorIn(stderr)).toBe(
      `the kubeconfig does not trust the certificate of ${ours.server ?? ""} ` +
        "(self-signed certificate in certificate chain): use one of this cluster",
    );
  });
});

function up(dataDir: string, { store = "memory", listen = "127.0.0.1:0" } = {}): Program {
  return new Program("apiserver", "--data-dir", dataDir, "--store", store, "--listen", listen);
}

function boot(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
}

/** State of a process (whose name has no parenthesis) and the fields after it. */
function statusOf(pid: number): readonly string[] {
  return (readFileSync(`/proc/${String(pid)}/stat`, "utf8").split(") ")[1] ?? "").split(" ");
}

/** The error that a command reports with --json. */
function errorIn(stderr: string): unknown {
  return (JSON.parse(stderr) as { readonly error: unknown }).error;
}

/** Output and exit code of a command. */
async function output(command: string, dataDir: string) {
  const program = new Program(command, "--data-dir", dataDir);
  const { code, stderr } = await program.ended();
  return { code, stderr, value: program.printed[0] };
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "setpoint-commands-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
