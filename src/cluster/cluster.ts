/** The composition root: the only place that wires the parts of a cluster into one process. */
import type { Log } from "../base/log.ts";
import type { Loop } from "../base/loop.ts";
import { openStore } from "./open-store.ts";
import type { ClusterOptions, StoreOptions } from "./options.ts";

/** What a cluster tells whoever runs it; `setpoint up --json` prints exactly these. */
export type ClusterEvent =
  | {
      readonly event: "ready";
      readonly store: StoreOptions["type"];
      readonly dataDir: string;
      readonly revision: number;
    }
  | { readonly event: "stopped" };

export interface ClusterSurroundings {
  readonly loop: Loop;
  readonly log: Log;
  /** Aborted when the cluster shall end. */
  readonly signal: AbortSignal;
  readonly report: (event: ClusterEvent) => void;
}

/** Runs a cluster until the signal is aborted; resolves when everything it started has stopped, rejects when it broke. */
export async function runCluster(options: ClusterOptions, surroundings: ClusterSurroundings): Promise<void> {
  const { loop, log, signal, report } = surroundings;
  signal.throwIfAborted();
  const store = await openStore(options, { loop: loop.child("store"), log });
  try {
    const { type } = options.store;
    report({ event: "ready", store: type, dataDir: options.dataDir, revision: store.view.revision });
    await Promise.race([aborted(signal), store.ended]);
  } finally {
    await store.close();
  }
  report({ event: "stopped" });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
