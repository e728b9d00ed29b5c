/** Reports the phases of a cluster's start, each with its own duration. */
import type { Loop } from "../base/loop/loop.ts";
import { prefixEnd } from "../store/store.ts";
import type { Store } from "../store/store.ts";
import type { ClusterEvent } from "./cluster-event.ts";
import type { ClusterOptions } from "./options.ts";

/** Prefix of the keys of all objects. */
const ROOT = "/registry/";

export class StartPhases {
  readonly #loop: Loop;
  readonly #report: (event: ClusterEvent) => void;
  #lastAt: number;

  /** The first phase begins now. */
  constructor(loop: Loop, report: (event: ClusterEvent) => void) {
    this.#loop = loop;
    this.#report = report;
    this.#lastAt = loop.elapsed();
  }

  storeOpened(store: Store, { store: { type }, dataDir }: Pick<ClusterOptions, "store" | "dataDir">): void {
    const objects = store.view.count(ROOT, prefixEnd(ROOT));
    this.#report({ ...this.#phase(), phase: "store", store: type, dataDir, objects });
  }

  serving(server: string): void {
    this.#report({ ...this.#phase(), phase: "api", server });
  }

  nodesReady(nodes: number, hasMachine: boolean): void {
    this.#report({ ...this.#phase(), phase: "nodes", nodes, hasMachine });
  }

  #phase(): { readonly event: "phase"; readonly durationMs: number } {
    const now = this.#loop.elapsed();
    const durationMs = Math.round(now - this.#lastAt);
    this.#lastAt = now;
    return { event: "phase", durationMs };
  }
}
