/**
 * Durable puts by 64 writers and by one, compared with a bare append-and-fdatasync loop on the same disk and with etcd. The bare loop
 * batches as the store does and does nothing else: no keys, checksums, index or watchers.
 */
import { closeSync, fdatasync, fdatasyncSync, openSync, write, writeSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { promisify } from "node:util";
import { createRealLoop, openFileStore } from "setpoint/store";
import { EtcdServer } from "../etcd-server.ts";
import { findPeer } from "../find-peer.ts";
import { percentile, perSecond, verdict, whole } from "./row.ts";
import type { Bench, BenchContext, Row } from "./row.ts";

const WRITERS = 64;
const VALUE_BYTES = 1536;
const ROUNDS = 7;
const PUTS = 40_000;
const SINGLE_PUTS = 1500;

/** Keeps `writers` calls in flight until `count` have been answered; returns milliseconds. */
async function closedLoop(
  writers: number,
  count: number,
  call: (n: number) => Promise<unknown>,
): Promise<number> {
  let next = 0;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: writers }, async () => {
      while (next < count) await call(next++);
    }),
  );
  return performance.now() - start;
}

const writeAsync = promisify(write);
const fdatasyncAsync = promisify(fdatasync);

async function bareAppend(folder: string): Promise<number> {
  const fd = openSync(join(folder, "bare"), "a");
  const record = Buffer.alloc(VALUE_BYTES + 64, 1);
  let waiting: (() => void)[] = [];
  let isRunning = false;
  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await writeAsync(fd, Buffer.concat(batch.map(() => record)));
      await fdatasyncAsync(fd);
      for (const answer of batch) answer();
    }
    isRunning = false;
  };
  const append = async (): Promise<void> =>
    await new Promise((resolve) => {
      waiting.push(resolve);
      if (isRunning) return;
      isRunning = true;
      setImmediate(() => void flush());
    });
  const ms = await closedLoop(WRITERS, PUTS, append);
  closeSync(fd);
  return perSecond(PUTS, ms);
}

function bareSyncP50(folder: string): number {
  const fd = openSync(join(folder, "sync"), "a");
  const record = Buffer.alloc(VALUE_BYTES + 64, 1);
  const times: number[] = [];
  for (let n = 0; n < SINGLE_PUTS; n++) {
    const start = performance.now();
    writeSync(fd, record);
    fdatasyncSync(fd);
    times.push(performance.now() - start);
  }
  closeSync(fd);
  return percentile(times, 0.5);
}

interface OwnFigures {
  readonly rate: number;
  readonly p50: number;
  readonly delayP99: number;
}

async function ownPuts(folder: string): Promise<OwnFigures> {
  const loop = createRealLoop({ name: "bench" });
  const store = await openFileStore({ dir: folder, loop });
  const value = new Uint8Array(VALUE_BYTES).fill(97);
  const put = async (n: number): Promise<unknown> =>
    await store.write({
      changes: [{ type: "put", key: `/registry/pods/default/pod-${String(n % 10_000)}`, value }],
    });
  await closedLoop(WRITERS, 2000, put);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const ms = await closedLoop(WRITERS, PUTS, put);
  delay.disable();
  const times: number[] = [];
  for (let n = 0; n < SINGLE_PUTS; n++) {
    const start = performance.now();
    await put(n);
    times.push(performance.now() - start);
  }
  await store.close();
  // The histogram's own 1 ms timer is part of each value.
  return { rate: perSecond(PUTS, ms), p50: percentile(times, 0.5), delayP99: delay.percentile(99) / 1e6 - 1 };
}

interface EtcdFigures {
  readonly rate: number;
  readonly clientShare: number;
}

async function etcdPuts(context: BenchContext): Promise<EtcdFigures | undefined> {
  if (findPeer("etcd").state !== "available") return undefined;
  const etcd = await EtcdServer.start({ durable: true });
  try {
    const answer = await context.child("etcd-put", {
      endpoint: etcd.endpoint,
      writers: WRITERS,
      bytes: VALUE_BYTES,
    });
    return answer as EtcdFigures;
  } finally {
    await etcd[Symbol.asyncDispose]();
  }
}

function etcdRow(rate: number, etcd: EtcdFigures | undefined): Row {
  const what = `durable put, ${String(WRITERS)} writers, against etcd`;
  const aim = "≥ 2 × etcd";
  if (etcd === undefined) {
    return {
      what,
      value: `${whole(rate)}/s`,
      yardstick: "etcd is not installed",
      figure: "–",
      aim,
      verdict: "skipped",
    };
  }
  const ratio = rate / etcd.rate;
  const isClientBound = etcd.clientShare > 0.95;
  return {
    what,
    value: `${whole(rate)}/s`,
    yardstick: `etcd ${whole(etcd.rate)}/s, client at ${whole(etcd.clientShare * 100)} % of a core`,
    figure: `${ratio.toFixed(2)} ×`,
    aim,
    verdict: isClientBound ? "client-bound" : verdict(ratio >= 2),
  };
}

export const storePut: Bench = {
  name: "store-put",
  async run(context) {
    const own: OwnFigures[] = [];
    const bare: number[] = [];
    const sync: number[] = [];
    context.progress("store-put, until its code is compiled");
    await bareAppend(context.folder());
    await ownPuts(context.folder());
    // Rounds alternate, so that a slow minute of the disk hits both; medians are compared.
    for (let round = 0; round < ROUNDS; round++) {
      context.progress(`store-put round ${String(round + 1)} of ${String(ROUNDS)}`);
      bare.push(await bareAppend(context.folder()));
      sync.push(bareSyncP50(context.folder()));
      own.push(await ownPuts(context.folder()));
    }
    const rate = percentile(
      own.map((figures) => figures.rate),
      0.5,
    );
    const bareRate = percentile(bare, 0.5);
    const p50 = percentile(
      own.map((figures) => figures.p50),
      0.5,
    );
    const syncP50 = percentile(sync, 0.5);
    const delayP99 = percentile(
      own.map((figures) => figures.delayP99),
      0.5,
    );
    return [
      {
        what: `durable put, ${String(WRITERS)} writers`,
        value: `${whole(rate)}/s`,
        yardstick: `bare append and fdatasync ${whole(bareRate)}/s`,
        figure: (rate / bareRate).toFixed(2),
        aim: "≥ 0.7",
        verdict: verdict(rate / bareRate >= 0.7),
      },
      etcdRow(rate, await etcdPuts(context)),
      {
        what: "durable put, one writer, p50",
        value: `${p50.toFixed(3)} ms`,
        yardstick: `one append and fdatasync ${syncP50.toFixed(3)} ms`,
        figure: `${(p50 / syncP50).toFixed(2)} ×`,
        aim: "≤ 1.5 ×",
        verdict: verdict(p50 / syncP50 <= 1.5),
      },
      {
        what: "event-loop delay p99 under full write load",
        value: `${delayP99.toFixed(1)} ms`,
        yardstick: "–",
        figure: `${delayP99.toFixed(1)} ms`,
        aim: "≤ 5 ms",
        verdict: verdict(delayP99 <= 5),
      },
    ];
  },
};
