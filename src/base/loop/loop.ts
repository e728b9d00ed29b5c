/**
 * The one seam through which time, randomness and order enter (docs/concepts/loop.md).
 *
 * Every actor (server, store, each controller, each client) gets a named child. On the real
 * loop steps run as soon as the machine allows; on the virtual loop a seed decides which
 * step runs next, so that a whole cluster gives the same result for the same seed.
 *
 * Between two steps code runs to completion with ordinary `await`; anything that ends on a
 * thread or in the operating system is announced with `outside`.
 */

/** In the order in which the real loop prefers them. Nobody waits for what is in the last one: it gets the time that is left over, and a little of a busy time. */
export const LANES = ["health", "request", "loop", "background", "spare"] as const;
export type Lane = (typeof LANES)[number];

/**
 * `progress` timers are work that is still to be done: the world is not quiet before they fired.
 * `periodic` timers (resync, lease renewal, expiry) come again for ever and keep nothing from being quiet.
 */
export type TimerKind = "progress" | "periodic";

/** A step that fails, at once or through the promise it returns, is reported to the loop's owner. */
export type Step = () => void | Promise<void>;

export interface Timer {
  /** After this the step does not run any more. Harmless when it already ran. */
  cancel(): void;
}

export interface Loop {
  /** Path of actor names from the root, such as `cluster/store`. */
  readonly actor: string;

  /**
   * Of the step that runs now, or that released what runs now; `request` when there is none. Who posts what follows from a step in the same lane
   * has it behind everything that waits there already. The virtual loop, which prefers no lane, always says `request`.
   */
  readonly lane: Lane;

  /** Milliseconds since the epoch. May jump back or forth on a real machine. */
  now(): number;

  /** Milliseconds from an arbitrary start; never goes back. For measuring durations. */
  elapsed(): number;

  /** Runs `step` once, not before `at` (by `now`; a clock that is set back meanwhile does not hold it up). */
  timer(at: number, kind: TimerKind, step: Step): Timer;

  /** Runs `step` soon, never synchronously. Steps of one actor in one lane run in the order posted. */
  post(lane: Lane, step: Step): void;

  /**
   * Announces work that ends outside this thread's control; settles as `work` does. On the virtual loop as a step of
   * this actor, and only for labels declared to it; on the real loop at once.
   */
  outside<T>(label: string, work: Promise<T>): Promise<T>;

  /**
   * Announces something of this actor that shall end, such as a request or a reconcile; the function that comes back says that it has.
   * A virtual world in which nothing is left to run while something is in flight has a promise that never settles, and says whose.
   */
  inFlight(label: string): () => void;

  /** The same stream object for the same name; on a virtual loop its numbers depend on seed, actor and name only. */
  random(stream: string): Random;

  /** A new actor below this one. A name used before gets a number: `cluster/store#2`. */
  child(name: string): Loop;
}

export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** Uniform integer in [0, limit). */
  below(limit: number): number;
  bytes(count: number): Uint8Array;
  /** A version 4 UUID. */
  uuid(): string;
}
