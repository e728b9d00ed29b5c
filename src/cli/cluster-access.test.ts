import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { silentLog } from "../base/log/log.ts";
import { createRealLoop } from "../base/loop/real/real-loop.ts";
import { claimDataDir } from "../cluster/data-dir/run-file.ts";
import { accessOptions, connectAs, findAccess } from "./cluster-access.ts";
import type { Arguments, Io } from "./command.ts";
import { streamsWith } from "./streams-fixture.ts";

const loop = createRealLoop({ name: "test" });

describe("the cluster that a command talks to", () => {
  test("is the one of the flags", async () => {
    const io = ioIn(folder());

    expect(await findAccess(io, args({ kubeconfig: "a" }), loop)).toEqual({ file: "/current/a" });
    expect(await findAccess(io, args({ context: "work" }), loop)).toEqual({ context: "work" });
    await expect(findAccess(io, args({ name: "dev", context: "work" }), loop)).rejects.toThrow(
      "--data-dir and --name cannot be given together with --kubeconfig or --context",
    );
  });

  test("is the running one of a name, or an error says how to start it", async () => {
    const home = folder();
    const dataDir = join(home, ".setpoint/clusters/dev");

    await expect(findAccess(ioIn(home), args({ name: "dev" }), loop)).rejects.toThrow(
      `no cluster runs in ${dataDir}: start one with setpoint up --data-dir ${dataDir}`,
    );
  });

  test("is the running one of this machine, unless $KUBECONFIG names another", async () => {
    const home = folder();
    const before = await findAccess(ioIn(home), args({}), loop);
    await claimDataDir(home, { store: "memory" }, loop);

    expect(before).toEqual({});
    expect(await findAccess(ioIn(home, { SETPOINT_HOME: home }), args({}), loop)).toEqual({
      file: join(home, "kubeconfig"),
    });
    expect(await findAccess(ioIn(home, { SETPOINT_HOME: home, KUBECONFIG: "x" }), args({}), loop)).toEqual(
      {},
    );
  });

  test("that is not there is an error with the remedy", async () => {
    const home = folder();
    const remedy = "no cluster is known: start one with node /setpoint/dist/cli.js up, or set KUBECONFIG";
    await expect(connectAs(ioIn(home), args({}), { loop })).rejects.toThrow(remedy);

    mkdirSync(join(home, ".kube"));
    writeFileSync(join(home, ".kube", "config"), "apiVersion: v1\nkind: Config\ncontexts: []\n");
    await expect(connectAs(ioIn(home), args({}), { loop })).rejects.toThrow(remedy);
    expect(accessOptions.map(({ flags }) => flags.split(" ")[0])).toEqual([
      "--data-dir",
      "--name",
      "--kubeconfig",
      "--context",
    ]);
  });
});

function args(options: Arguments["options"]): Arguments {
  return { operands: {}, rest: [], options };
}

function ioIn(homeDir: string, env: Io["env"] = {}): Io {
  return {
    stdout: () => undefined,
    stderr: () => undefined,
    exit: () => undefined,
    log: silentLog,
    env,
    streams: () => streamsWith(),
    homeDir,
    workingDir: "/current",
    programFile: "/setpoint/dist/cli.js",
    signal: new AbortController().signal,
  };
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "setpoint-access-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
