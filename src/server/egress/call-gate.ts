/** How many calls one target gets at a time: the rest wait their turn, and too many who wait are sent away. */
import { EgressError } from "./egress.ts";

/** More than a webhook server answers at once; each holds a socket. */
const CALLS_MAX = 64;
const WAITING_MAX = 1024;

interface Queue {
  running: number;
  readonly waiting: Set<() => void>;
}

export class CallGate {
  readonly #queues = new Map<string, Queue>();

  /** Resolves when it is the caller's turn, with what ends the turn. Rejects when there are too many, or the signal is aborted first. */
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
      throw new EgressError(`${WAITING_MAX} calls wait for the same server already`);
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

  /** The turn goes to whoever has waited longest. */
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
