/** Summarizes each second what a cluster does. */
import type { Loop } from "../base/loop/loop.ts";
import { pause } from "../base/loop/pause.ts";
import type { PassRecord } from "../runtime/controller/pass-result.ts";
import { prefixEnd } from "../store/store.ts";
import type { Store } from "../store/store.ts";
import type { ClusterSummary } from "./cluster-event.ts";

const EVERY_MS = 1000;
const PODS = "/registry/pods/";
const NODES = "/registry/minions/";

export class SummaryLoop {
  readonly #store: Store;
  readonly #loop: Loop;
  readonly #show: (summary: ClusterSummary) => void;
  #passes = 0;
  /** Controller and object of each failed last pass. Bounded by the number of objects. */
  readonly #failing = new Set<string>();

  constructor({
    store,
    loop,
    show,
  }: {
    readonly store: Store;
    readonly loop: Loop;
    readonly show: (summary: ClusterSummary) => void;
  }) {
    this.#store = store;
    this.#loop = loop;
    this.#show = show;
  }

  readonly onPass = ({ controller, namespace, name, result }: PassRecord): void => {
    this.#passes++;
    const key = `${controller} ${namespace}/${name}`;
    if (result === "failed" || result === "terminal") this.#failing.add(key);
    else this.#failing.delete(key);
  };

  async run(signal: AbortSignal): Promise<void> {
    let before = this.#loop.elapsed();
    while (!signal.aborted) {
      await pause(this.#loop, { ms: EVERY_MS, kind: "periodic" }, signal);
      const now = this.#loop.elapsed();
      const passesPerSecond = Math.round((this.#passes * 1000) / Math.max(now - before, 1));
      before = now;
      this.#passes = 0;
      if (!signal.aborted) this.#show(this.#summary(passesPerSecond));
    }
  }

  #summary(passesPerSecond: number): ClusterSummary {
    const { view } = this.#store;
    const count = (prefix: string): number => view.count(prefix, prefixEnd(prefix));
    return { nodes: count(NODES), pods: count(PODS), failing: this.#failing.size, passesPerSecond };
  }
}
