/** Every kind of probe on containers that are processes: readiness follows them, and liveness restarts. */
import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { AgentWorld, type OwnContainer } from "./agent-process-world.ts";

/** Listens on $PORT, and does not answer well while the file exists. */
const SERVER = `const [type, file] = process.argv.slice(1);
const isBad = () => require("fs").existsSync(file);
const port = process.env.PORT;
const servers = {
  http: () => require("http").createServer((_, response) => {
    response.statusCode = isBad() ? 500 : 200;
    response.end("well");
  }).listen(port),
  tcp: () => {
    let server;
    setInterval(() => {
      if (isBad()) server = void server?.close();
      else server ??= require("net").createServer((socket) => socket.destroy()).listen(port);
    }, 20);
  },
  grpc: () => require("http2").createServer().on("stream", (stream) => {
    stream.respond({ "content-type": "application/grpc" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    stream.end(Buffer.from([0, 0, 0, 0, 2, 8, isBad() ? 2 : 1]));
  }).listen(port),
};
servers[type]();`;

const KINDS = ["http", "tcp", "grpc", "exec"] as const;
const TIMES = { periodSeconds: 1, failureThreshold: 1 };

describe.skipIf(process.platform === "win32")("a process pod with probes of every kind", () => {
  test("is ready as its containers say, again and again", async () => {
    await using world = await AgentWorld.open();
    const file = join(world.dataDir, "bad");
    await world.runAll("web", containers("readinessProbe", file));

    await world.statuses("web", ({ ready }) => ready);
    writeFileSync(file, "");
    await world.statuses("web", ({ ready }) => !ready);
    rmSync(file);
    const after = await world.statuses("web", ({ ready }) => ready);

    expect(after.map(({ restartCount }) => restartCount)).toEqual([0, 0, 0, 0]);
    const page = await world.page("/metrics/probes");
    for (const kind of KINDS)
      expect(page).toMatch(new RegExp(`container="${kind}".*probe_type="Readiness",result="failed"} \\d`));
  });

  test("runs containers again that are not alive", async () => {
    await using world = await AgentWorld.open();
    const file = join(world.dataDir, "bad");
    await world.runAll("web", containers("livenessProbe", file));
    await world.statuses("web", ({ started }) => started === true);

    writeFileSync(file, "");
    await world.statuses("web", ({ restartCount }) => restartCount > 0);
    rmSync(file);

    // Events about one pod are limited: not each container has one.
    expect(world.events("web").filter((text) => text.includes("failed liveness probe"))).not.toEqual([]);
  });

  test("waits for its startup probe before it asks the others", async () => {
    await using world = await AgentWorld.open();
    const file = join(world.dataDir, "begun");
    const command = ["sleep", "1000"];
    const startupProbe = { exec: { command: ["test", "-e", file] }, periodSeconds: 1, failureThreshold: 100 };
    const readinessProbe = { exec: { command: ["true"] }, periodSeconds: 1 };
    await world.runAll("web", [{ name: "main", command, startupProbe, readinessProbe }]);
    await world.until("it was asked", () =>
      world.events("web").some((text) => text.includes("Startup probe")),
    );
    expect(world.find("web")?.status.containerStatuses).toMatchObject([{ started: false, ready: false }]);

    writeFileSync(file, "");

    const [status] = await world.statuses("web", ({ ready }) => ready);
    expect(status).toMatchObject({ started: true, restartCount: 0 });
  });

  test("is not restarted because the machine is busy", async () => {
    await using world = await AgentWorld.open();
    const probe = { ...TIMES, failureThreshold: 3 };
    const file = join(world.dataDir, "bad");
    await world.runAll("web", containers("livenessProbe", file, probe));
    await world.statuses("web", ({ started }) => started === true);

    const load = Array.from({ length: availableParallelism() * 2 }, () =>
      spawn("sh", ["-c", "while :; do :; done"]),
    );
    onTestFinished(() => {
      for (const each of load) each.kill("SIGKILL");
    });
    await world.probed("web", KINDS.length * 5);

    const statuses = world.find("web")?.status.containerStatuses ?? [];
    expect(statuses.map(({ restartCount }) => restartCount)).toEqual([0, 0, 0, 0]);
  });
});

function containers(
  type: "readinessProbe" | "livenessProbe",
  file: string,
  times = TIMES,
): readonly OwnContainer[] {
  return KINDS.map((kind, index) => {
    const port = 8081 + index;
    const command = kind === "exec" ? ["sleep", "1000"] : [process.execPath, "-e", SERVER, kind, file];
    const actions = {
      http: { httpGet: { path: "/", port } },
      tcp: { tcpSocket: { port } },
      grpc: { grpc: { port, service: "" } },
      exec: { exec: { command: ["sh", "-c", `[ ! -e ${file} ]`] } },
    };
    const startupProbe = { ...actions[kind], periodSeconds: 1, failureThreshold: 100 };
    const probes = { startupProbe, [type]: { ...actions[kind], ...times } };
    return { name: kind, command, ports: [{ containerPort: port }], ...probes };
  });
}
