/**
 * A loop on which a whole cluster runs in one thread, without waiting, and the same way for the same seed.
 *
 * Nothing runs by itself: `settle`, `advance` and `until` run the world as far as asked. After each step all microtasks
 * settle before the seed chooses the next.
 */

import { errorText } from "../../error-text.ts";
import { assertActorName } from "../loop-paths.ts";
import { VirtualActor } from "./virtual-loop-actor.ts";
import { InFlight } from "./virtual-loop-in-flight.ts";
import { OutsideWork } from "./virtual-loop-outside.ts";
import { Schedule, type FailureSink } from "./virtual-loop-schedule.ts";
import { TraceRecorder, type Trace } from "./virtual-loop-trace.ts";

/** An arbitrary moment, the same in every run. */
const DEFAULT_START_AT = Date.UTC(2026, 0, 1);

/** Longer than back-off and deadlines of a healthy cluster. */
const DEFAULT_LIMIT_MS = 3_600_000;

/** Some seconds of real time. */
const DEFAULT_MAX_STEPS = 1_000_000;

/** How many actors an error names. */
const NAMED_ACTORS_MAX = 10;

export interface VirtualLoopOptions {
  readonly seed: number;
  /** Of the root actor. */
  readonly name?: string;
  /** Milliseconds since the epoch. */
  readonly startAt?: number;
  /** Labels of outside work that may happen. Its results must not depend on anything but its input. */
  readonly outside?: readonly string[];
  /** Unless given, the running `settle`, `advance` or `until` rejects. */
  readonly onStepFailed?: (error: unknown, actor: string) => void;
  /** How many of the last steps the trace keeps as text. */
  readonly record?: number;
}

/** A run that needs more than this rejects. */
export interface RunBounds {
  /** Of virtual time, from the call on. */
  readonly limitMs?: number;
  readonly maxSteps?: number;
  /** What else is known of why, for the error. */
  readonly why?: () => string;
}

interface Goal {
  readonly name: string;
  isReached(): boolean;
  readonly latest: number;
  readonly maxSteps: number;
  readonly why: () => string;
}

export class VirtualLoop extends VirtualActor {
  readonly seed: number;
  readonly #schedule: Schedule;
  readonly #outside: OutsideWork;
  readonly #inFlight: InFlight;
  readonly #trace: TraceRecorder;
  readonly #failures: Error[];
  #isRunning = false;

  constructor(options: VirtualLoopOptions) {
    const { seed, name = "root", startAt = DEFAULT_START_AT } = options;
    assertActorName(name);
    const failures: Error[] = [];
    const trace = new TraceRecorder(options.record ?? 0);
    const schedule = new Schedule({ seed, startAt, trace, onFailure: failureSink(options, failures) });
    const outside = new OutsideWork(schedule, options.outside ?? []);
    const inFlight = new InFlight();
    super({ schedule, outside, inFlight }, name);
    this.seed = seed;
    this.#schedule = schedule;
    this.#outside = outside;
    this.#inFlight = inFlight;
    this.#trace = trace;
    this.#failures = failures;
  }

  get trace(): Trace {
    return this.#trace.read();
  }

  /** Gives up the promise of the same trace: from now on all outside work may happen. */
  declareOutside(): void {
    this.#outside.declareAll();
  }

  /** Nothing is left to run but periodic timers. */
  get isQuiet(): boolean {
    return !this.#schedule.hasWork;
  }

  /**
   * Runs until the world is quiet: no posted step, no progress timer and no outside work is left. Periodic timers that
   * come due on the way run too, but the world does not wait for them. Rejects when something is in flight in a quiet world:
   * it waits for a promise that nobody will settle.
   */
  async settle(bounds: RunBounds = {}): Promise<void> {
    await this.#drive({ name: "quiet", isReached: () => this.isQuiet, ...this.#bounds(bounds) });
    if (this.isStuck) throw this.stuckError();
  }

  /** Nothing is left to run, and something waits. */
  get isStuck(): boolean {
    return !this.#inFlight.isEmpty && this.isQuiet;
  }

  /** Names what waits. */
  stuckError(): Error {
    return new Error(
      `nothing is left to run, yet something waits for a promise that never settles (seed ${this.seed}, step ` +
        `${this.#trace.steps}, +${this.elapsed()}ms): ${this.#inFlight.describe()}`,
    );
  }

  /** Runs all that is due within `ms` of virtual time, periodic timers too; then the clock is exactly `ms` further. */
  async advance(ms: number, bounds: Omit<RunBounds, "limitMs"> = {}): Promise<void> {
    const target = this.now() + ms;
    const isReached = (): boolean => this.#schedule.nextAt > target;
    await this.#drive({ name: "idle", isReached, ...this.#bounds({ ...bounds, limitMs: ms }) });
    this.#schedule.advanceClock(target);
  }

  /** Runs until `predicate` holds; it is asked at the start and after each step. Rejects when nothing is left that could change it. */
  until(predicate: () => boolean, bounds: RunBounds = {}): Promise<void> {
    return this.#drive({ name: "where the predicate holds", isReached: predicate, ...this.#bounds(bounds) });
  }

  /** Runs until the promise has settled, and settles as it does. */
  async finish<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
    };
    promise.then(settle, settle);
    await this.until(() => isSettled);
    return promise;
  }

  #bounds({
    limitMs = DEFAULT_LIMIT_MS,
    maxSteps = DEFAULT_MAX_STEPS,
    why = () => "",
  }: RunBounds): Pick<Goal, "latest" | "maxSteps" | "why"> {
    return { latest: this.now() + limitMs, maxSteps, why };
  }

  async #drive(goal: Goal): Promise<void> {
    if (this.#isRunning) throw new Error("the virtual loop is already running; await the earlier run first");
    this.#isRunning = true;
    try {
      await this.#runUntilReached(goal);
    } finally {
      this.#isRunning = false;
    }
  }

  /** Code that ran before the call has its microtasks settled first: nothing counts as quiet that is about to post. */
  async #runUntilReached(goal: Goal): Promise<void> {
    for (let steps = 0; ; steps++) {
      await microtasksSettled();
      if (this.#outside.isHeld) await this.#outside.release();
      const failure = this.#failures.shift();
      if (failure !== undefined) throw failure;
      if (goal.isReached()) return;
      if (steps >= goal.maxSteps) throw this.#boundError(goal, `${goal.maxSteps} steps`);
      const { nextAt } = this.#schedule;
      if (nextAt === Infinity) throw this.#boundError(goal, "all there is to run");
      if (nextAt > goal.latest)
        throw this.#boundError(goal, `the time until +${goal.latest - this.#schedule.startAt}ms`);
      this.#schedule.runNext();
    }
  }

  #boundError(goal: Goal, bound: string): Error {
    const pending = this.#schedule.describeWork();
    const named = pending.slice(0, NAMED_ACTORS_MAX).join("; ");
    const more =
      pending.length > NAMED_ACTORS_MAX ? `; and ${pending.length - NAMED_ACTORS_MAX} more actors` : "";
    return new Error(
      `not ${goal.name} after ${bound} (seed ${this.seed}, step ${this.#trace.steps}, ` +
        `+${this.elapsed()}ms); pending: ${named === "" ? "nothing" : named + more}${goal.why()}`,
    );
  }
}

function failureSink({ seed, onStepFailed }: VirtualLoopOptions, failures: Error[]): FailureSink {
  return ({ error, actor, stepNumber }) => {
    try {
      if (onStepFailed !== undefined) return onStepFailed(error, actor);
      const reason = errorText(error);
      failures.push(
        new Error(`step ${stepNumber} of actor ${actor} failed (seed ${seed}): ${reason}`, { cause: error }),
      );
    } catch (handlerError) {
      failures.push(
        new Error(`onStepFailed failed for actor ${actor} (seed ${seed})`, { cause: handlerError }),
      );
    }
  };
}

/** Kept from before anybody could replace the global. */
const realSetImmediate = setImmediate;

/** Node runs an immediate only when no microtask and no tick is left. */
function microtasksSettled(): Promise<void> {
  return new Promise((resolve) => {
    realSetImmediate(resolve);
  });
}
