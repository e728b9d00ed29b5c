/** 100,000 objects of 4 KB, not decoded: time until the file store is open, and memory of the process afterwards. */
import { performance } from "node:perf_hooks";
import { createRealLoop, openFileStore } from "setpoint/store";
import { verdict, whole } from "./row.ts";
import type { Bench } from "./row.ts";

const OBJECTS = 100_000;
const VALUE_BYTES = 4096;

async function fill(dir: string): Promise<void> {
  const loop = createRealLoop({ name: "bench" });
  const store = await openFileStore({ dir, loop });
  let next = 0;
  await Promise.all(
    Array.from({ length: 256 }, async () => {
      while (next < OBJECTS) {
        const n = next++;
        const value = Buffer.alloc(VALUE_BYTES, `object ${String(n)} `);
        await store.write({
          changes: [
            { type: "put", key: `/registry/pods/namespace-${String(n % 100)}/pod-${String(n)}`, value },
          ],
        });
      }
    }),
  );
  await store.close();
}

export async function storeFillChild({ dir }: { readonly dir: string }): Promise<unknown> {
  await fill(dir);
  return {};
}

interface OpenFigures {
  readonly ms: number;
  readonly rssMb: number;
  readonly objects: number;
}

export async function storeOpenChild({ dir }: { readonly dir: string }): Promise<unknown> {
  const loop = createRealLoop({ name: "bench" });
  const start = performance.now();
  const store = await openFileStore({ dir, loop });
  const ms = performance.now() - start;
  globalThis.gc?.();
  const figures: OpenFigures = {
    ms,
    rssMb: process.memoryUsage.rss() / 1e6,
    objects: store.view.count("/registry/", "/registry0"),
  };
  await store.close();
  return figures;
}

export const storeOpen: Bench = {
  name: "store-open",
  async run(context) {
    const dir = context.folder();
    context.progress(`store-open: writing ${whole(OBJECTS)} objects`);
    await context.child("store-fill", { dir });
    context.progress("store-open: opening");
    const { ms, rssMb, objects } = (await context.child("store-open", { dir })) as OpenFigures;
    if (objects !== OBJECTS) throw new Error(`expected ${String(OBJECTS)} objects, found ${String(objects)}`);
    const what = `${whole(OBJECTS)} objects of 4 KB`;
    return [
      {
        what: `${what}: open`,
        value: `${(ms / 1000).toFixed(2)} s`,
        yardstick: "–",
        figure: `${(ms / 1000).toFixed(2)} s`,
        aim: "≤ 2 s",
        verdict: verdict(ms <= 2000),
      },
      {
        what: `${what}: memory of the process`,
        value: `${whole(rssMb)} MB`,
        yardstick: `${whole((OBJECTS * VALUE_BYTES) / 1e6)} MB of values`,
        figure: `${whole(rssMb)} MB`,
        aim: "≤ 750 MB",
        verdict: verdict(rssMb <= 750),
      },
    ];
  },
};
