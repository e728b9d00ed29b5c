/**
 * Kills the process of a cluster, and so its agent, at random moments under load. `npm run test:long` does it 200
 * times; SETPOINT_SEED chooses other moments.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { findIsolation } from "../../src/agent/process/isolation.ts";
import { listProcesses, signalGroup } from "../../src/agent/process/process-table.ts";
import { Deployment } from "../../src/api/generated/types/apps-v1.ts";
import { Pod } from "../../src/api/generated/types/core-v1.ts";
import { seededRandom } from "../../src/base/loop/random.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { connect } from "../../src/client/connection.ts";
import { Program } from "../conformance/kubectl/program.ts";

const KILLS = Number(process.env["SETPOINT_AGENT_KILLS"] ?? "3");
const SEED = Number(process.env["SETPOINT_SEED"] ?? "1");
const REPLICAS = 4;
/** The longest life of an agent; some die before they have looked at their pods. */
const LIFE_MS = 1500;
const CYCLE_LIMIT_MS = 60_000;
const COUNTER = "i=0; while :; do i=$((i+1)); echo $i; sleep 0.02; done";

const loop = createRealLoop({ name: "test" });
const isolation = await findIsolation(loop);

describe.skipIf(process.platform === "win32")(`process pods (${isolation.type})`, () => {
  test(
    `are as the API says after ${String(KILLS)} kills of their agent, and lose no line (seed ${String(SEED)})`,
    { timeout: (KILLS + 2) * CYCLE_LIMIT_MS },
    async () => {
      const dataDir = makeDataDir();
      const random = seededRandom("kills", SEED);
      await apply(await start(dataDir));

      for (let kill = 0; kill < KILLS; kill++) {
        await pass(random.below(LIFE_MS));
        await last?.end("SIGKILL");
        await start(dataDir);
      }

      const uids = await runningPods(dataDir);
      expect(uids).toHaveLength(REPLICAS);
      expect(countersIn(dataDir)).toEqual(uids.toSorted());
      for (const lines of logsOf(dataDir)) expect(lines).toEqual(lines.map((_, index) => index + 1));
    },
  );
});

let last: Program | undefined;

/** Path of the kubeconfig. */
async function start(dataDir: string): Promise<string> {
  last = new Program(
    "up",
    "--runtime",
    "process",
    "--data-dir",
    dataDir,
    "--listen",
    "127.0.0.1:0",
    "--kubeconfig",
    join(dataDir, "user"),
  );
  return (await last.event("ready")).kubeconfig ?? "";
}

async function apply(file: string): Promise<void> {
  await using connection = await connect({ file, loop });
  const labels = { app: "counter" };
  const container = { name: "counter", image: "none", command: ["sh", "-c", COUNTER] };
  await connection.client(Deployment).apply({
    metadata: { name: "counter", namespace: "default" },
    spec: {
      replicas: REPLICAS,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  });
}

/** Uids of the pods, once all of them run and are seen by this agent. */
async function runningPods(dataDir: string): Promise<readonly string[]> {
  await using connection = await connect({ file: join(dataDir, "kubeconfig"), loop });
  for (;;) {
    const { items } = await connection.client(Pod).list({ namespace: "default" });
    const running = items.filter(({ status }) => status.containerStatuses?.[0]?.state.running !== undefined);
    const uids = running.map(({ metadata }) => metadata.uid);
    const found = countersIn(dataDir);
    if (items.length === REPLICAS && uids.length === REPLICAS && found.length === REPLICAS) return uids;
    await pass(50);
  }
}

/** Uid of the pod of each running program. */
function countersIn(dataDir: string): readonly string[] {
  const shims = listProcesses().flatMap(({ arguments: words }) =>
    words.includes(`${dataDir}/process/scripts/shim.sh`) && words.includes("start.sh")
      ? (/process\/pods\/([^/]+)\//.exec(words)?.[1] ?? [])
      : [],
  );
  // The shim has two copies of itself, which move its output.
  return [...new Set(shims)].toSorted();
}

function logsOf(dataDir: string): readonly (readonly number[])[] {
  const folder = join(dataDir, "pods-logs");
  const pods = readdirSync(folder).filter((name) => name.startsWith("default_counter"));
  return pods.flatMap((pod) =>
    readdirSync(join(folder, pod, "counter")).map((file) =>
      readFileSync(join(folder, pod, "counter", file), "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => Number(line.split(" ")[3])),
    ),
  );
}

function pass(ms: number): Promise<void> {
  return new Promise((resolve) => loop.timer(loop.now() + ms, "progress", resolve));
}

function makeDataDir(): string {
  const dataDir = mkdtempSync(join(tmpdir(), "setpoint-kills-"));
  onTestFinished(async () => {
    await last?.end("SIGTERM");
    for (const { arguments: words, group } of listProcesses())
      if (words.includes(`${dataDir}/process/`)) signalGroup(group, "SIGKILL");
    rmSync(dataDir, { recursive: true, force: true });
  });
  return dataDir;
}
