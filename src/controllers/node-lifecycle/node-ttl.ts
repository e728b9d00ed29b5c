/**
 * Tells agents how long they may go on with what they know of Secrets and ConfigMaps: the longer, the more nodes there are.
 *
 * Reads Nodes; writes their annotation `node.alpha.kubernetes.io/ttl`.
 */
import { isApiError } from "../../api/api-error.ts";
import { Node } from "../../api/generated/types/core-v1.ts";
import type { Timer } from "../../base/loop.ts";
import { ownValue } from "../../resources/value-rules.ts";
import type { Routine, RoutineParts } from "../../runtime/routine.ts";
import { untilAborted } from "../../runtime/run-all.ts";
import { WriteWindow } from "../../runtime/write-window.ts";

const TTL = "node.alpha.kubernetes.io/ttl";
const RETRY_MS = 5000;

interface SizeStep {
  readonly minNodes: number;
  readonly maxNodes: number;
  readonly ttlSeconds: number;
}

/** Upstream's. They overlap, so that a node more and one less do not change all the others each time. */
const STEPS: readonly SizeStep[] = [
  { minNodes: 0, maxNodes: 100, ttlSeconds: 0 },
  { minNodes: 90, maxNodes: 500, ttlSeconds: 15 },
  { minNodes: 450, maxNodes: 1000, ttlSeconds: 30 },
  { minNodes: 900, maxNodes: 2000, ttlSeconds: 60 },
  { minNodes: 1800, maxNodes: Infinity, ttlSeconds: 300 },
];

export const nodeTtlRoutine: Routine = {
  name: "ttl-controller",
  reads: [Node],
  run: (parts, signal) => new TtlRun(parts, signal).run(),
};

/** Which step so many nodes are on, coming from another. */
export function stepFor(nodes: number, step: number): number {
  let at = step;
  while (nodes > (STEPS[at]?.maxNodes ?? Infinity)) at++;
  while (nodes < (STEPS[at]?.minNodes ?? 0)) at--;
  return at;
}

class TtlRun {
  readonly #parts: RoutineParts;
  /** What fails once it is aborted is no failure. */
  readonly #signal: AbortSignal;
  readonly #writes = new WriteWindow<string>();
  readonly #retries = new Set<Timer>();
  #nodes = 0;
  #step = 0;

  constructor(parts: RoutineParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
  }

  async run(): Promise<void> {
    const { subscribe, cache } = this.#parts;
    const leave = subscribe(Node, ({ before, after }) => {
      this.#count(this.#nodes + (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1));
      if (after !== undefined) this.#see(after);
    });
    const nodes = cache(Node).list();
    this.#count(nodes.length);
    for (const node of nodes) this.#see(node);
    await untilAborted(this.#signal);
    leave();
    for (const timer of this.#retries) timer.cancel();
    await this.#writes.quiet();
  }

  /** Nodes that are there already get another time when they are next written, which their agents see to: they are many. */
  #count(nodes: number): void {
    this.#nodes = nodes;
    this.#step = stepFor(nodes, this.#step);
  }

  #see(node: Node): void {
    const text = String(STEPS[this.#step]?.ttlSeconds ?? 0);
    if (ownValue(node.metadata.annotations, TTL) === text) return;
    this.#writes.send(node.metadata.name, () => this.#write(node, text));
  }

  async #write(node: Node, text: string): Promise<void> {
    const { client, log } = this.#parts;
    const { name, uid } = node.metadata;
    const changes = { metadata: { uid, annotations: { [TTL]: text } } };
    try {
      await client(Node).patch(node, { type: "merge", changes });
    } catch (error) {
      // A conflict: there is another node of its name by now, which was seen on its own.
      if (this.#signal.aborted || isApiError(error, "NotFound") || isApiError(error, "Conflict")) return;
      log.warn("a node could not be annotated", { node: name, error });
      this.#again(name);
    }
  }

  #again(name: string): void {
    const { loop, cache } = this.#parts;
    const timer = loop.timer(loop.now() + RETRY_MS, "periodic", () => {
      this.#retries.delete(timer);
      const node = cache(Node).find({ name });
      if (node !== undefined && !this.#signal.aborted) this.#see(node);
    });
    this.#retries.add(timer);
  }
}
