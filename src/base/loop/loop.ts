/**
 * The single source of time, randomness and order (docs/concepts/loop.md).
 *
 * Each actor (server, store, controller, client) has a named child. The real loop runs steps as soon as possible. On
 * the virtual loop a seed picks the next step: a whole cluster behaves the same for the same seed. Within a step, code
 * runs to completion with ordinary `await`. Work that ends on a thread or in the operating system is announced with
 * `outside`.
 */

/**
 * In the real loop's order of preference. Nothing waits for steps in `spare`: they run when the loop is idle, plus a
 * small share of busy time.
 */
export const LANES = ["health", "request", "loop", "background", "spare"] as const;
export type Lane = (typeof LANES)[number];

/**
 * `progress` timers are work that remains: the virtual loop is not settled until they have fired. `periodic` timers
 * (resync, lease renewal, expiry) repeat forever and do not count.
 */
export type TimerKind = "progress" | "periodic";

/** A step that throws or rejects is reported to the loop's owner. */
export type Step = () => void | Promise<void>;

export interface Timer {
  /** Prevents the step from running. No-op after it ran. */
  cancel(): void;
}

/** Source of time, timers, randomness and order of one actor. */
export interface Loop {
  /** Path of actor names from the root, for example `cluster/store`. */
  readonly actor: string;

  /**
   * Lane of the running step, or of the step that resumed the running code; `request` when there is none. A step
   * posted from a step to the same lane runs after everything already queued there. The virtual loop has no lanes and
   * always returns `request`.
   */
  readonly lane: Lane;

  /** Milliseconds since the epoch. May jump in both directions on a real machine. */
  now(): number;

  /** Milliseconds from an arbitrary start, for measuring durations. Never goes back. */
  elapsed(): number;

  /** Runs `step` once, when `now` has reached `at`. Setting the clock back meanwhile does not delay it. */
  timer(at: number, kind: TimerKind, step: Step): Timer;

  /** Runs `step` soon, never synchronously. Steps of one actor in one lane run in the order posted. */
  post(lane: Lane, step: Step): void;

  /**
   * Announces work that ends outside this thread, and settles as `work` does. On the virtual loop it settles in a
   * step of this actor, and only for declared labels. On the real loop it settles at once.
   */
  outside<T>(label: string, work: Promise<T>): Promise<T>;

  /**
   * Announces work of this actor that must end, for example a request or a reconcile. Call the returned function when
   * it has ended. When the virtual loop has nothing left to run and work is in flight, some promise never settles;
   * the loop reports the label.
   */
  inFlight(label: string): () => void;

  /** A random stream; one object per name. On the virtual loop its numbers depend on seed, actor and name only. */
  random(stream: string): Random;

  /** A new actor below this one. A repeated name gets a number: `cluster/store#2`. */
  child(name: string): Loop;
}

/** Source of random numbers. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** Uniform integer in [0, limit). */
  below(limit: number): number;
  /** Random bytes. */
  bytes(count: number): Uint8Array;
  /** A version 4 UUID. */
  uuid(): string;
}
