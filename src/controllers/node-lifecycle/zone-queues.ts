/** Queues of unready nodes whose pods are to be evicted: first in, first out, at the rate of the zone. */
import { TokenBucket } from "../../runtime/queue/token-bucket.ts";
import type { Zone } from "./zone-health.ts";

interface ZoneQueue {
  readonly waiting: Set<string>;
  /** Replaced when the rate of the zone changes. */
  bucket: TokenBucket | undefined;
  perSecond: number;
}

export class ZoneQueues {
  readonly #queues = new Map<string, ZoneQueue>();

  get isEmpty(): boolean {
    for (const { waiting } of this.#queues.values()) if (waiting.size > 0) return false;
    return true;
  }

  /** A queued node keeps its place. */
  add(name: string, zone: string): void {
    const queue = this.#queues.get(zone) ?? { waiting: new Set<string>(), bucket: undefined, perSecond: 0 };
    this.#queues.set(zone, queue);
    queue.waiting.add(name);
  }

  remove(name: string): void {
    for (const { waiting } of this.#queues.values()) waiting.delete(name);
  }

  /** Removes and returns the nodes that are due. `nowMs` is `Loop.elapsed`. */
  takeDue(zones: ReadonlyMap<string, Zone>, nowMs: number): readonly string[] {
    const due: string[] = [];
    for (const [zone, queue] of this.#queues) {
      const { perSecond } = zones.get(zone) ?? { perSecond: 0 };
      if (perSecond === 0) continue;
      if (queue.bucket === undefined || queue.perSecond !== perSecond) {
        queue.bucket = new TokenBucket({ perSecond, burst: 1 }, nowMs);
        queue.perSecond = perSecond;
      }
      due.push(...taken(queue.waiting, queue.bucket, nowMs));
    }
    return due;
  }
}

function taken(waiting: Set<string>, bucket: TokenBucket, nowMs: number): readonly string[] {
  const due: string[] = [];
  for (const name of waiting) {
    if (!bucket.tryTake(nowMs)) break;
    waiting.delete(name);
    due.push(name);
  }
  return due;
}
