/**
 * A loop that runs a whole cluster in one thread, without real waiting, and the same way for the same seed.
 *
 * Nothing runs by itself: `settle`, `advance` and `until` run steps as far as requested. After each step all
 * microtasks settle before the seed chooses the next one.
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

/** More than the back-off and deadlines of a healthy cluster; one hour. */
const DEFAULT_LIMIT_MS = 3_600_000;

/** Takes some seconds of real time. */
const DEFAULT_MAX_STEPS = 1_000_000;

/** Upper bound of the actors in an error. */
const NAMED_ACTORS_MAX = 10;

/** Options of a `VirtualLoop`. */
export interface VirtualLoopOptions {
  /** Determines the order of steps and all random numbers. */
  readonly seed: number;
  /** Name of the root actor. Default: `root`. */
  readonly name?: string;
  /** Time at the start, in milliseconds since the epoch. Default: 2026-01-01. */
  readonly startAt?: number;
  /**
   * Labels of permitted outside work, for example `disk`. Its results must depend on its input only. Default: none.
   */
  readonly outside?: readonly string[];
  /** Called with the error of a failed step. Default: the running `settle`, `advance` or `until` rejects. */
  readonly onStepFailed?: (error: unknown, actor: string) => void;
  /** Number of the last steps that the trace keeps as text. Default: 0. */
  readonly record?: number;
}

/** Bounds of a run; it rejects when it needs more. */
export interface RunBounds {
  /** Virtual time from the call on, in milliseconds. Default: one hour. */
  readonly limitMs?: number;
  /** Upper bound of steps. Default: 1,000,000. */
  readonly maxSteps?: number;
  /** Returns further explanation for the error. Default: none. */
  readonly why?: () => string;
  /** Returns the cause of the error. Default: none. */
  readonly cause?: () => unknown;
}

interface Goal {
  readonly name: string;
  isReached(): boolean;
  readonly latest: number;
  readonly maxSteps: number;
  readonly why: () => string;
  readonly cause: () => unknown;
}

/** A loop on a virtual clock, for tests. A seed determines the order of all steps. */
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

  /** The steps so far; equal for two runs of the same seed. */
  get trace(): Trace {
    return this.#trace.read();
  }

  /** Permits all outside work from now on. The trace is then no longer the same for the same seed. */
  declareOutside(): void {
    this.#outside.declareAll();
  }

  /** No longer waits for work in flight of this actor and its children, as after the end of their process. */
  abandon(actor: string): void {
    this.#inFlight.abandon(actor);
  }

  /** True when nothing but periodic timers is left to run. */
  get isQuiet(): boolean {
    return !this.#schedule.hasWork;
  }

  /**
   * Runs until the loop is quiet: no posted step, progress timer or outside work is left. Periodic timers that become
   * due meanwhile run too, but `settle` does not wait for them. Rejects when the loop is quiet with work in flight:
   * that work awaits a promise that will never settle.
   */
  async settle(bounds: RunBounds = {}): Promise<void> {
    await this.#drive({ name: "quiet", isReached: () => this.isQuiet, ...this.#bounds(bounds) });
    if (this.isStuck) throw this.stuckError();
  }

  /** True when nothing is left to run but work is in flight. */
  get isStuck(): boolean {
    return !this.#inFlight.isEmpty && this.isQuiet;
  }

  /** An error that names the work in flight. */
  stuckError(): Error {
    return new Error(
      `nothing is left to run, yet something waits for a promise that never settles (seed ${this.seed}, step ` +
        `${this.#trace.steps}, +${this.elapsed()}ms): ${this.#inFlight.describe()}`,
    );
  }

  /**
   * Runs everything that is due within `ms` of virtual time, periodic timers too. Afterwards the clock is exactly
   * `ms` later.
   */
  async advance(ms: number, bounds: Omit<RunBounds, "limitMs"> = {}): Promise<void> {
    const target = this.now() + ms;
    const isReached = (): boolean => this.#schedule.nextAt > target;
    await this.#drive({ name: "idle", isReached, ...this.#bounds({ ...bounds, limitMs: ms }) });
    this.#schedule.advanceClock(target);
  }

  /**
   * Runs until `predicate` is true; it is called at the start and after each step. Rejects when nothing is left to
   * run.
   */
  until(predicate: () => boolean, bounds: RunBounds = {}): Promise<void> {
    return this.#drive({ name: "where the predicate holds", isReached: predicate, ...this.#bounds(bounds) });
  }

  /** Runs until the promise has settled, then settles like it. */
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
    cause = () => undefined,
  }: RunBounds): Pick<Goal, "latest" | "maxSteps" | "why" | "cause"> {
    return { latest: this.now() + limitMs, maxSteps, why, cause };
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

  /** Lets the microtasks of earlier code settle first: code that is about to post counts as work. */
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
      { cause: goal.cause() },
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

/** Kept from before a test can replace the global. */
const realSetImmediate = setImmediate;

/** Node runs an immediate only when no microtask and no tick is left. */
function microtasksSettled(): Promise<void> {
  return new Promise((resolve) => {
    realSetImmediate(resolve);
  });
}
