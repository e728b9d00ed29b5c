/**
 * `npm run bench [-- NAME] [--json]`. A bench measures every figure beside its yardstick in one run; read the ratios, not
 * the absolutes. A survey (`growth`, `nodes`) runs only when it is named, and shows what grows with the cluster.
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
import { getPods } from "./get-pods.ts";
import { growth } from "./growth.ts";
import { loadChild } from "./http-load.ts";
import { nodes } from "./nodes.ts";
import { processPods } from "./process-pods.ts";
import type { BenchContext, Row } from "./row.ts";
import { cacheDirectChild, cacheHttpChild, runtimeCache } from "./runtime-cache.ts";
import { runtimeQueue } from "./runtime-queue.ts";
import { scheduler } from "./scheduler.ts";
import { storeFillChild, storeOpen, storeOpenChild } from "./store-open.ts";
import { storePut } from "./store-put.ts";
import { storeSize } from "./store-size.ts";
import { storeWatch } from "./store-watch.ts";
import { figureText, surveyText } from "./survey.ts";
import type { Figure, Survey, SurveyOptions } from "./survey.ts";
import { watchLoadChild } from "./watch-load.ts";
import { journalBench, whyBench } from "./why.ts";
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
  whyBench,
  getPods,
  processPods,
  journalBench,
];

const SURVEYS: readonly Survey[] = [growth, nodes];

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

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: "string" },
    json: { type: "boolean" },
    /** Numbers of stored pods of the survey `growth`, separated by commas. */
    sizes: { type: "string" },
    /** Number of simulated nodes of the survey `nodes`. */
    nodes: { type: "string" },
    /** A short form of a survey. */
    quick: { type: "boolean" },
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

function surveyOptions(): SurveyOptions {
  const sizes = values.sizes?.split(",").map(countOf);
  return {
    sizes: sizes?.toSorted((a, b) => a - b),
    isQuick: values.quick === true,
    nodes: values.nodes === undefined ? undefined : countOf(values.nodes),
  };
}

function countOf(text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new Error(`expected a number, found "${text}"`);
  return Number(text);
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
    const survey = SURVEYS.find(({ name }) => name === only);
    if (survey === undefined) await printRows(context, only);
    else await printSurvey(context, survey);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function printRows(context: BenchContext, only: string | undefined): Promise<void> {
  const benches = BENCHES.filter(({ name }) => only === undefined || name.startsWith(only));
  if (benches.length === 0) {
    const names = [...BENCHES, ...SURVEYS].map(({ name }) => name);
    throw new Error(`no bench is named ${only ?? ""}; there are ${names.join(", ")}`);
  }
  const rows: Row[] = [];
  for (const bench of benches) rows.push(...(await bench.run(context)));
  if (values.json === true) return printJson(rows);
  printMachine();
  print(rows);
}

async function printSurvey(context: BenchContext, survey: Survey): Promise<void> {
  const figures: Figure[] = [];
  const add = (found: readonly Figure[]): void => {
    figures.push(...found);
    for (const figure of found) context.progress(`${survey.name}: ${figureText(figure)}`);
  };
  try {
    await survey.run({ ...context, options: surveyOptions(), add });
  } finally {
    printFigures(figures);
  }
}

function printFigures(figures: readonly Figure[]): void {
  if (values.json === true) return printJson(figures);
  printMachine();
  process.stdout.write(`${surveyText(figures)}\n`);
}

function printJson(found: unknown): void {
  process.stdout.write(`${JSON.stringify(found)}\n`);
}

function printMachine(): void {
  process.stdout.write(
    `Node.js ${process.version}, ${String(cpus().length)} cores, ${cpus()[0]?.model ?? ""}\n\n`,
  );
}

if (values.child === undefined) await runBenches(positionals[0] ?? values.only);
else
  await runChild(
    values.child,
    values["argument-stdin"] === true ? readFileSync(0, "utf8") : (values.argument ?? "{}"),
  );
