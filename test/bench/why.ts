/** Questions about causes at 10,000 and 100,000 objects, and the cost of the journal for a create. */
import { performance } from "node:perf_hooks";
import { Deployment } from "../../src/api/generated/types/apps-v1.ts";
import { Namespace, Pod } from "../../src/api/generated/types/core-v1.ts";
import { connect } from "../../src/client/connection.ts";
import type { Connection } from "../../src/client/connection.ts";
import { ChangeReader } from "../../src/insight/causes/read-changes.ts";
import { explainObject } from "../../src/insight/explain/explain-object.ts";
import { timelineOf, timelineText } from "../../src/insight/past/timeline.ts";
import { FactReader } from "../../src/insight/stuck/fact-reader.ts";
import { eventsOf } from "../../src/insight/stuck/gather-situation.ts";
import { Journal } from "../../src/server/write/journal.ts";
import type { JournalEntry } from "../../src/server/write/journal.ts";
import { load } from "./api-cluster.ts";
import { startClusterProcess } from "./cluster-process.ts";
import type { ClusterProcess } from "./cluster-process.ts";
import { percentile, verdict, whole } from "./row.ts";
import type { Bench, BenchContext, Row } from "./row.ts";

const SIZES = [
  { objects: 10_000, aimMs: 100 },
  { objects: 100_000, aimMs: 300 },
] as const;
const QUESTIONS = 30;
/** Share of a create's CPU that the journal may take. */
const JOURNAL_SHARE = 0.03;
/** Records that fill the journal, and records that are measured. */
const KEPT = 50_000;
const RECORDS = 200_000;
const MAPS = "/api/v1/namespaces/default/configmaps";
const JSON_BODY = { "content-type": "application/json" };

export const whyBench: Bench = {
  name: "why",
  async run(context) {
    const dataDir = context.folder();
    const cluster = await startClusterProcess(dataDir, { store: "file", nodes: 3 });
    const connection = await connect({ file: `${dataDir}/kubeconfig` });
    try {
      const rows: Row[] = [];
      let created = 0;
      for (const { objects, aimMs } of SIZES) {
        await fill({ context, cluster, connection }, { from: created, to: objects });
        created = objects;
        context.progress(`why at ${whole(objects)} objects`);
        rows.push(...(await questions(connection, { name: `web-${String(objects)}`, objects, aimMs })));
      }
      return rows;
    } finally {
      await connection.close();
      await cluster.stop();
    }
  },
};

export const journalBench: Bench = {
  name: "journal",
  async run(context) {
    const dataDir = context.folder();
    const cluster = await startClusterProcess(dataDir, { store: "file", nodes: 1 });
    const connection = await connect({ file: `${dataDir}/kubeconfig` });
    try {
      return [journalRow(await fill({ context, cluster, connection }, { from: 0, to: 10_000 }))];
    } finally {
      await connection.close();
      await cluster.stop();
    }
  },
};

interface Creates {
  readonly count: number;
  readonly cpuMs: number;
}

interface Filled {
  readonly context: BenchContext;
  readonly cluster: ClusterProcess;
  readonly connection: Connection;
}

/** Creates objects from 64 clients until there are so many. Almost every revision in between is a create. */
async function fill(
  { context, cluster, connection }: Filled,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<Creates> {
  const [cpuMs, revision] = [cluster.cpuMs(), await newestRevision(connection)];
  let count = 0;
  for (let round = 0; count < to - from; round++) {
    const name = `f-${String(from)}-${String(round)}-%n`;
    const data = { a: "x".repeat(500) };
    const body = JSON.stringify({ kind: "ConfigMap", apiVersion: "v1", metadata: { name }, data });
    await load(context, cluster, { method: "POST", path: MAPS, headers: JSON_BODY, body });
    count = (await newestRevision(connection)) - revision;
    context.progress(`${whole(from + count)} objects`);
  }
  return { count, cpuMs: cluster.cpuMs() - cpuMs };
}

async function newestRevision({ client }: Connection): Promise<number> {
  const { metadata } = await client(Namespace).list({ limit: 1 });
  return Number(metadata.resourceVersion);
}

interface Asked {
  readonly name: string;
  readonly objects: number;
  readonly aimMs: number;
}

/** `why` and `timeline` of a pod of a new Deployment, without the start of a process. */
async function questions({ client }: Connection, { name, objects, aimMs }: Asked): Promise<readonly Row[]> {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } };
  await client(Deployment).create({
    metadata: { name },
    spec: { replicas: 3, selector: { matchLabels: labels }, template },
  });
  const pod = await readyPod(client, `app=${name}`);
  const asked = { type: Pod, namespace: "default", name: pod.metadata.name };
  const why = await timesOf(async () => await explainObject(client, asked, Date.now()));
  const timeline = await timesOf(async () => {
    const named = { group: "", kind: "Pod", namespace: "default", name: asked.name };
    const [{ items }, events] = await Promise.all([
      new ChangeReader(client).of(named),
      eventsOf(new FactReader(client), pod),
    ]);
    return timelineText(timelineOf(items, events));
  });
  return [
    ["why", why],
    ["timeline", timeline],
  ].map(([what, times]): Row => {
    const p99 = percentile(times as readonly number[], 0.99);
    return {
      what: `${String(what)} of a pod at ${whole(objects)} objects`,
      value: `p50 ${percentile(times as readonly number[], 0.5).toFixed(1)} ms`,
      yardstick: "",
      figure: `p99 ${p99.toFixed(1)} ms`,
      aim: `≤ ${String(aimMs)} ms`,
      verdict: verdict(p99 <= aimMs),
    };
  });
}

async function readyPod(client: Connection["client"], labelSelector: string): Promise<Pod> {
  for (;;) {
    const { items } = await client(Pod).list({ namespace: "default", labelSelector });
    const ready = items.find(({ status }) =>
      status.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"),
    );
    if (ready !== undefined) return ready;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function timesOf(ask: () => Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  await ask();
  for (let n = 0; n < QUESTIONS; n++) {
    const startedAt = performance.now();
    await ask();
    times.push(performance.now() - startedAt);
  }
  return times;
}

/** CPU of a full journal for an entry as a create makes it, beside the server's CPU for a create. */
function journalRow({ count, cpuMs }: Creates): Row {
  const journal = new Journal();
  const entries = Array.from({ length: KEPT + RECORDS }, (_, n) => entryOf(n));
  for (const entry of entries.slice(0, KEPT)) journal.record(entry);
  const before = process.cpuUsage();
  for (const entry of entries.slice(KEPT)) journal.record(entry);
  const used = process.cpuUsage(before);
  const recordUs = (used.user + used.system) / RECORDS;
  const createUs = (cpuMs * 1000) / count;
  const share = recordUs / createUs;
  return {
    what: "journal, of a create's CPU",
    value: `${recordUs.toFixed(2)} µs`,
    yardstick: `create ${createUs.toFixed(0)} µs`,
    figure: `${(share * 100).toFixed(1)} %`,
    aim: `≤ ${String(JOURNAL_SHARE * 100)} %`,
    verdict: verdict(share <= JOURNAL_SHARE),
  };
}

/** Four writes of a pass share the text of their cause. */
function entryOf(n: number): JournalEntry {
  return {
    user: "system:serviceaccount:kube-system:replicaset-controller",
    manager: "replicaset-controller",
    userAgent: "setpoint/0.1.0",
    cause: flat(`replicaset-controller/3f2a-${String(n >> 2)} of=ReplicaSet.apps/default/web`),
    revision: n + 1,
    keys: [flat(`/registry/pods/default/web-${String(n)}`)],
    at: n,
  };
}

/** A text as a request has it: V8 keeps a concatenation in parts until its first use. */
function flat(text: string): string {
  return Buffer.from(text).toString();
}
