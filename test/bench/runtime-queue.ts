/** The runtime's work queue, compared with a plain Map that only removes duplicates. */
import { performance } from "node:perf_hooks";
import { WorkQueue } from "setpoint/runtime";
import type { Cause } from "setpoint/runtime";
import { createRealLoop } from "setpoint/store";
import { perSecond, verdict, whole } from "./row.ts";
import type { Bench } from "./row.ts";

const KEYS = 10_000;
const ROUNDS = 100;
const AIM = 1_000_000;

const keys = Array.from({ length: KEYS }, (_, n) => `default/pod-${String(n)}`);

function cause(name: string, resourceVersion: string): Cause {
  return { type: "object", group: "", kind: "Pod", namespace: "default", name, resourceVersion };
}

/** Each round adds, takes and finishes every key. */
function queueRate(): number {
  const queue = new WorkQueue({ loop: createRealLoop({ name: "bench" }) });
  const startedAt = performance.now();
  for (let round = 0; round < ROUNDS; round++) {
    for (const key of keys) queue.add(key, cause(key, "1"));
    for (let item = queue.take(); item !== undefined; item = queue.take()) queue.done(item.key);
  }
  return perSecond(KEYS * ROUNDS, performance.now() - startedAt);
}

function mapRate(): number {
  const map = new Map<string, Cause>();
  const startedAt = performance.now();
  for (let round = 0; round < ROUNDS; round++) {
    for (const key of keys) map.set(key, cause(key, "1"));
    for (const key of map.keys()) map.delete(key);
  }
  return perSecond(KEYS * ROUNDS, performance.now() - startedAt);
}

export const runtimeQueue: Bench = {
  name: "runtime-queue",
  run(context) {
    context.progress("runtime-queue");
    queueRate();
    const rate = queueRate();
    const bare = mapRate();
    return Promise.resolve([
      {
        what: "work queue, add and take",
        value: `${whole(rate)}/s`,
        yardstick: `plain Map ${whole(bare)}/s`,
        figure: `${whole(rate)}/s`,
        aim: `≥ ${whole(AIM)}/s`,
        verdict: verdict(rate >= AIM),
      },
    ]);
  },
};
