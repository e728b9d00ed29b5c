/**
 * `npm run bench [-- --only NAME] [--json]`. Every figure is measured beside its yardstick in the same run; compare ratios, not absolute
 * figures.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { access } from "./access.ts";
import { apiDirect } from "./api-direct.ts";
import { apiLoad } from "./api-load.ts";
import { apiWatch } from "./api-watch.ts";
import { apiWebhook, webhookChild } from "./api-webhook.ts";
import { bareServerChild } from "./bare-server.ts";
import { clusterBench, clusterChild } from "./cluster.ts";
import { customKinds } from "./custom-kinds.ts";
import { etcdPutChild } from "./etcd-put-child.ts";
import type { EtcdPutArgument } from "./etcd-put-child.ts";
import { loadChild } from "./http-load.ts";
import type { BenchContext, Row } from "./row.ts";
import { cacheDirectChild, cacheHttpChild, runtimeCache } from "./runtime-cache.ts";
import { runtimeQueue } from "./runtime-queue.ts";
import { scheduler } from "./scheduler.ts";
import { storeFillChild, storeOpen, storeOpenChild } from "./store-open.ts";
import { storePut } from "./store-put.ts";
import { storeSize } from "./store-size.ts";
import { storeWatch } from "./store-watch.ts";
import { watchLoadChild } from "./watch-load.ts";
import { workloads } from "./workloads.ts";

const BENCHES = [
  storePut,
  storeWatch,
  storeOpen,
  storeSize,
  apiLoad,
  apiWatch,
  apiDirect,
  access,
  apiWebhook,
  customKinds,
  runtimeQueue,
  runtimeCache,
  clusterBench,
  scheduler,
  workloads,
];

const CHILDREN: Readonly<Record<string, (argument: never) => Promise<unknown>>> = {
  "etcd-put": async (argument: EtcdPutArgument) => await etcdPutChild(argument),
  "api-load": loadChild,
  "watch-load": watchLoadChild,
  "bare-server": bareServerChild,
  webhook: webhookChild,
  "store-fill": storeFillChild,
  "store-open": storeOpenChild,
  "runtime-cache-direct": cacheDirectChild,
  "runtime-cache-http": cacheHttpChild,
  cluster: clusterChild,
};

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    json: { type: "boolean" },
    child: { type: "string" },
    argument: { type: "string" },
    /** Passes arguments that are too long for a command line. */
    "argument-stdin": { type: "boolean" },
  },
});

async function runChild(name: string, argument: string): Promise<void> {
  const child = CHILDREN[name];
  if (child === undefined) throw new Error(`no child named ${name}`);
  process.stdout.write(JSON.stringify(await child(JSON.parse(argument) as never)));
}

async function spawnChild(name: string, argument: unknown): Promise<unknown> {
  const args = [
    "--expose-gc",
    fileURLToPath(import.meta.url),
    "--child",
    name,
    "--argument",
    JSON.stringify(argument),
  ];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  for await (const piece of child.stdout) output += String(piece);
  if (child.exitCode !== null && child.exitCode !== 0)
    throw new Error(`${name} ended with ${String(child.exitCode)}`);
  return JSON.parse(output);
}

function print(rows: readonly Row[]): void {
  const head = ["what", "measured", "yardstick in the same run", "figure", "aim", ""];
  const lines = rows.map((row) => [row.what, row.value, row.yardstick, row.figure, row.aim, row.verdict]);
  for (const line of [head, head.map(() => "---"), ...lines])
    process.stdout.write(`| ${line.join(" | ")} |\n`);
}

async function runBenches(only: string | undefined): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "setpoint-bench-"));
  let folders = 0;
  const context: BenchContext = {
    folder: () => mkdtempSync(join(root, `${String(folders++)}-`)),
    child: spawnChild,
    progress: (text) => process.stderr.write(`${text}\n`),
  };
  try {
    const rows: Row[] = [];
    for (const bench of BENCHES) {
      if (only === undefined || bench.name.startsWith(only)) rows.push(...(await bench.run(context)));
    }
    if (values.json === true) process.stdout.write(`${JSON.stringify(rows)}\n`);
    else {
      process.stdout.write(
        `Node.js ${process.version}, ${String(cpus().length)} cores, ${cpus()[0]?.model ?? ""}\n\n`,
      );
      print(rows);
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

if (values.child === undefined) await runBenches(values.only);
else
  await runChild(
    values.child,
    values["argument-stdin"] === true ? readFileSync(0, "utf8") : (values.argument ?? "{}"),
  );
