/** A node with its pods in fixed places: a cell does not move when another one goes. */
import { POD_PHASES, type PodPhase } from "./pod-phase.ts";
import type { NodeCell, PodCell } from "./watched-objects.ts";

/** Places of a box. More pods wait until a place becomes free, and are counted only. */
export const PLACES_MAX = 512;

/** A pod as the screen shows it, which may lag behind the cluster for a moment. */
export interface PodEntry {
  /** The state that is shown. */
  shown: PodCell;
  /** States that follow, each shown for a while. */
  readonly next: PodCell[];
  /** The pod is deleted. Its place stays marked for a while. */
  isGone: boolean;
  /** The place shows a mark that the pod is gone. */
  isGhost: boolean;
  /** Elapsed time of the last change of what is shown. */
  changedAt: number;
  box: NodeBox;
  /** Undefined while the box has no place. */
  place: number | undefined;
  /** Whether the filter shows it. */
  isMatch: boolean;
}

export type PhaseCounts = Record<PodPhase, number>;

export function noCounts(): PhaseCounts {
  return Object.fromEntries(POD_PHASES.map((phase) => [phase, 0])) as PhaseCounts;
}

export class NodeBox {
  /** Empty for the pods without a node. */
  readonly name: string;
  /** Undefined for a node that does not exist. */
  node: NodeCell | undefined;
  readonly counts = noCounts();
  /** Pods that are counted; marks of deleted pods are not. */
  pods = 0;
  /** Counted pods that the filter shows. */
  matches = 0;
  /** Position in the list of boxes when it was last made. */
  index = -1;
  readonly #places: (PodEntry | undefined)[] = [];
  readonly #waiting = new Set<PodEntry>();
  #taken = 0;

  constructor(name: string) {
    this.name = name;
  }

  /** Places up to the last one that is taken. */
  get length(): number {
    return this.#places.length;
  }

  /** Neither a node nor a pod is left. */
  get isEmpty(): boolean {
    return this.node === undefined && this.#taken === 0;
  }

  at(place: number): PodEntry | undefined {
    return this.#places[place];
  }

  /** Takes the first free place. Returns how many places were looked at. */
  add(entry: PodEntry): number {
    entry.box = this;
    if (this.#taken >= PLACES_MAX) {
      this.#waiting.add(entry);
      entry.place = undefined;
      return 1;
    }
    const isFull = this.#taken === this.#places.length;
    const place = isFull ? this.#taken : this.#places.indexOf(undefined);
    this.#places[place] = entry;
    this.#taken++;
    entry.place = place;
    return isFull ? 1 : place + 1;
  }

  remove(entry: PodEntry): void {
    if (entry.place === undefined) {
      this.#waiting.delete(entry);
      return;
    }
    this.#places[entry.place] = undefined;
    this.#taken--;
    const [next] = this.#waiting;
    if (next !== undefined) {
      this.#waiting.delete(next);
      this.#places[entry.place] = next;
      this.#taken++;
      next.place = entry.place;
    }
    while (this.#places.length > 0 && this.#places.at(-1) === undefined) this.#places.pop();
    entry.place = undefined;
  }

  count(phase: PodPhase, by: 1 | -1): void {
    this.counts[phase] += by;
    this.pods += by;
  }
}
