/** Limits the calls in flight to one target. Further calls queue; a full queue refuses them. */
import { EgressError } from "./egress.ts";

/** More than a webhook server answers at once; each call holds a socket. */
const CALLS_MAX = 64;
const WAITING_MAX = 1024;

interface Queue {
  running: number;
  readonly waiting: Set<() => void>;
}

export class CallGate {
  readonly #queues = new Map<string, Queue>();

  /**
   * Resolves, when the caller's turn comes, with the function that ends it. Rejects when the queue is full or the
   * signal aborts.
   */
  enter(target: string, signal: AbortSignal): Promise<() => void> | (() => void) {
    signal.throwIfAborted();
    const queue = this.#queues.get(target) ?? { running: 0, waiting: new Set() };
    this.#queues.set(target, queue);
    const leave = (): void => this.#leave(target, queue);
    if (queue.running < CALLS_MAX) {
      queue.running++;
      return leave;
    }
    if (queue.waiting.size >= WAITING_MAX)
      throw new EgressError(`${WAITING_MAX} calls already wait for this server`);
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener("abort", giveUp);
        resolve(leave);
      };
      const giveUp = (): void => {
        queue.waiting.delete(begin);
        reject(signal.reason as Error);
      };
      queue.waiting.add(begin);
      signal.addEventListener("abort", giveUp, { once: true });
    });
  }

  /** The turn goes to the call that has waited longest. */
  #leave(target: string, queue: Queue): void {
    const [next] = queue.waiting;
    if (next === undefined) {
      queue.running--;
      if (queue.running === 0) this.#queues.delete(target);
      return;
    }
    queue.waiting.delete(next);
    next();
  }
}
