/** 500,000 updates of 100 keys: compaction runs during the writes, so the files stay bounded. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { createRealLoop, openFileStore } from "setpoint/store";
import { verdict, whole } from "./row.ts";
import type { Bench } from "./row.ts";

const UPDATES = 500_000;
const KEYS = 100;
const VALUE_BYTES = 1024;
/** The window of 256 MiB, SQLite's overhead and a write-ahead log. */
const BOUND_MB = 500;

export const storeSize: Bench = {
  name: "store-size",
  async run(context) {
    const dir = context.folder();
    context.progress(`store-size: ${whole(UPDATES)} updates`);
    const store = await openFileStore({ dir, loop: createRealLoop({ name: "bench" }) });
    const value = new Uint8Array(VALUE_BYTES).fill(97);
    let next = 0;
    await Promise.all(
      Array.from({ length: 256 }, async () => {
        while (next < UPDATES) {
          const key = `/registry/pods/default/pod-${String(next++ % KEYS)}`;
          await store.write({ changes: [{ type: "put", key, value }] });
        }
      }),
    );
    await store.close();
    let bytes = 0;
    for (const name of readdirSync(dir)) bytes += statSync(join(dir, name)).size;
    return [
      {
        what: `${whole(UPDATES)} updates of ${String(KEYS)} keys: files`,
        value: `${whole(bytes / 1e6)} MB`,
        yardstick: `${whole((UPDATES * VALUE_BYTES) / 1e6)} MB written`,
        figure: `${whole(bytes / 1e6)} MB`,
        aim: `bounded: ≤ ${String(BOUND_MB)} MB`,
        verdict: verdict(bytes / 1e6 <= BOUND_MB),
      },
    ];
  },
};
