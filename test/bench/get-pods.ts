/** `setpoint get pods` of 1,000 pods with the start of its process, beside kubectl in the same run. */
import { spawnSync } from "node:child_process";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { Deployment } from "../../src/api/generated/types/apps-v1.ts";
import { connect } from "../../src/client/connection.ts";
import type { Connection } from "../../src/client/connection.ts";
import { startClusterProcess } from "./cluster-process.ts";
import { percentile, verdict } from "./row.ts";
import type { Bench, Row } from "./row.ts";

const PODS = 1000;
const NODES = 10;
const RUNS = 15;
const AIM_MS = 300;
const CLI = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

export const getPods: Bench = {
  name: "get-pods",
  async run(context) {
    const dataDir = context.folder();
    const cluster = await startClusterProcess(dataDir, { store: "memory", nodes: NODES });
    const connection = await connect({ file: `${dataDir}/kubeconfig` });
    try {
      await startPods(connection);
      context.progress(`${PODS} pods`);
      return [rowOf(`${dataDir}/kubeconfig`, dataDir)];
    } finally {
      await connection.close();
      await cluster.stop();
    }
  },
};

async function startPods({ client }: Connection): Promise<void> {
  const deployments = client(Deployment);
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } };
  const spec = { replicas: PODS, selector: { matchLabels: labels }, template };
  await deployments.create({ metadata: { name: "web" }, spec });
  while ((await deployments.get({ name: "web" })).status?.readyReplicas !== PODS)
    await new Promise((resolve) => setTimeout(resolve, 200));
}

/** Both take turns, so that a slow moment of the machine meets both. */
function rowOf(kubeconfig: string, home: string): Row {
  const ours: number[] = [];
  const theirs: number[] = [];
  const env = { ...process.env, KUBECONFIG: kubeconfig, HOME: home };
  const hasKubectl = timeOf("kubectl", ["get", "pods"], env) !== undefined;
  for (let run = 0; run < RUNS; run++) {
    ours.push(timeOf(process.execPath, [CLI, "get", "pods"], env) ?? Number.NaN);
    if (hasKubectl) theirs.push(timeOf("kubectl", ["get", "pods"], env) ?? Number.NaN);
  }
  const median = percentile(ours, 0.5);
  return {
    what: `setpoint get pods, ${PODS} pods, with the start of the process`,
    value: `${median.toFixed(0)} ms`,
    yardstick: hasKubectl ? `kubectl ${percentile(theirs, 0.5).toFixed(0)} ms` : "kubectl is not installed",
    figure: `p90 ${percentile(ours, 0.9).toFixed(0)} ms`,
    aim: `p50 ≤ ${AIM_MS} ms`,
    verdict: verdict(median <= AIM_MS),
  };
}

/** Undefined if the command fails or prints less than the pods. */
function timeOf(file: string, args: readonly string[], env: NodeJS.ProcessEnv): number | undefined {
  const begin = performance.now();
  const { status, stdout } = spawnSync(file, args, { env, encoding: "utf8", maxBuffer: 64 << 20 });
  const ms = performance.now() - begin;
  return status === 0 && stdout.split("\n").length > PODS ? ms : undefined;
}
