/** One writer to many watchers: no event is lost, and a watcher costs the same among ten as among a thousand. */
import { performance } from "node:perf_hooks";
import { createRealLoop, openMemoryStore } from "setpoint/store";
import type { Watch } from "setpoint/store";
import { verdict, whole } from "./row.ts";
import type { Bench } from "./row.ts";

const COUNTS = [10, 100, 1000] as const;
const DELIVERIES = 1_000_000;

interface FanOut {
  readonly perDeliveryUs: number;
  readonly lost: number;
}

async function drain(watch: Watch, events: number): Promise<number> {
  let seen = 0;
  let last = 0;
  for await (const batch of watch) {
    for (const event of batch.events) {
      if (event.revision <= last) throw new Error("an event came twice or out of order");
      last = event.revision;
    }
    seen += batch.events.length;
    if (seen >= events) break;
  }
  return seen;
}

async function fanOut(watchers: number): Promise<FanOut> {
  const loop = createRealLoop({ name: "bench" });
  const store = openMemoryStore({ loop });
  const value = new Uint8Array(1536);
  const writes = DELIVERIES / watchers;
  const after = store.view.revision;
  const start = performance.now();
  const drained = Array.from(
    { length: watchers },
    async () => await drain(store.watch({ prefix: "/registry/pods/", after }), writes),
  );
  for (let n = 0; n < writes; n++) {
    await store.write({
      changes: [{ type: "put", key: `/registry/pods/default/pod-${String(n % 1000)}`, value }],
    });
  }
  const seen = await Promise.all(drained);
  const ms = performance.now() - start;
  await store.close();
  return {
    perDeliveryUs: (ms * 1000) / DELIVERIES,
    lost: seen.reduce((sum, count) => sum + (writes - count), 0),
  };
}

export const storeWatch: Bench = {
  name: "store-watch",
  async run(context) {
    const results: FanOut[] = [];
    for (const watchers of COUNTS) {
      context.progress(`store-watch with ${String(watchers)} watchers`);
      results.push(await fanOut(watchers));
    }
    const lost = results.reduce((sum, result) => sum + result.lost, 0);
    const few = results[1]?.perDeliveryUs ?? Number.NaN;
    const many = results[2]?.perDeliveryUs ?? Number.NaN;
    return [
      {
        what: "one writer to 1,000 watchers, cost of a delivery",
        value: `${many.toFixed(2)} µs, ${whole(lost)} lost`,
        yardstick: `100 watchers ${few.toFixed(2)} µs, 10 watchers ${(results[0]?.perDeliveryUs ?? 0).toFixed(2)} µs`,
        figure: `${(many / few).toFixed(2)} ×`,
        aim: "≤ 1.2 ×, none lost",
        verdict: verdict(many / few <= 1.2 && lost === 0),
      },
    ];
  },
};
