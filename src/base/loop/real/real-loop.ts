/** The loop of a running program: the machine's clock, and steps as soon as possible. */

import { performance } from "node:perf_hooks";
import { silentLog, type Log } from "../../log/log.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import { assertActorName, boundedPath, ChildPaths } from "../loop-paths.ts";
import type { Lane, Loop, Random, Step, Timer, TimerKind } from "../loop.ts";
import { cryptoRandom, seededRandom } from "../random.ts";
import { RunQueue } from "./real-loop-run-queue.ts";
import { RealTimers } from "./real-loop-timers.ts";

/** Steps above this are reported, because they block all others. Ten slices. */
const LONG_STEP_MS = 50;

/**
 * Lane of due timers. They come first because they are late already, and a lease that expires costs more than any
 * request. Their steps are short, or post the work to its own lane.
 */
const TIMER_LANE: Lane = "health";

/** Options of `createRealLoop`. */
export interface RealLoopOptions {
  /** Name of the root actor; all paths begin with it. */
  readonly name: string;
  /** Determines the numbers of all random streams. Default: they come from the operating system. */
  readonly seed?: number;
  /** Called with the error of a failed step. Default: the error is uncaught and ends the process. */
  readonly onStepFailed?: (error: unknown, actor: string) => void;
  /** Registry for the counter of long steps. Default: none. */
  readonly metrics?: Metrics;
  /** Log for long steps. Default: none. */
  readonly log?: Log;
}

/**
 * Makes the root actor of a real loop. Posted steps and progress timers keep the process alive; periodic timers do
 * not.
 */
export function createRealLoop(options: RealLoopOptions): Loop {
  assertActorName(options.name);
  const queue = new RunQueue({ stepFailed: failureReporter(options), stepEnded: longStepReporter(options) });
  const timers = new RealTimers((due) => queue.post(TIMER_LANE, due));
  const { seed } = options;
  const random = (actor: string, stream: string): Random =>
    seed === undefined ? cryptoRandom() : seededRandom(seed, actor, stream);
  return new RealActor({ queue, timers, random }, options.name);
}

interface Machine {
  readonly queue: RunQueue;
  readonly timers: RealTimers;
  readonly random: (actor: string, stream: string) => Random;
}

class RealActor implements Loop {
  readonly actor: string;
  readonly #machine: Machine;
  readonly #streams = new Map<string, Random>();
  readonly #children: ChildPaths;

  constructor(machine: Machine, actor: string) {
    this.actor = actor;
    this.#machine = machine;
    this.#children = new ChildPaths(actor);
  }

  get lane(): Lane {
    return this.#machine.queue.lane;
  }

  now(): number {
    return Date.now();
  }

  elapsed(): number {
    return performance.now();
  }

  timer(at: number, kind: TimerKind, step: Step): Timer {
    return this.#machine.timers.add({ at, kind, actor: this.actor, step });
  }

  post(lane: Lane, step: Step): void {
    this.#machine.queue.post(lane, { actor: this.actor, step });
  }

  /**
   * Settles at once instead of in a step: the operating system has chosen the order already, and a queue only adds
   * latency.
   */
  outside<T>(_label: string, work: Promise<T>): Promise<T> {
    return work;
  }

  /** No-op: a real loop cannot tell that nothing is left to run. */
  inFlight(): () => void {
    return nothing;
  }

  random(stream: string): Random {
    const known = this.#streams.get(stream);
    if (known !== undefined) return known;
    const created = this.#machine.random(this.actor, stream);
    this.#streams.set(stream, created);
    return created;
  }

  child(name: string): Loop {
    return new RealActor(this.#machine, this.#children.take(name));
  }
}

function nothing(): void {}

/** Throws an unhandled error in a microtask, where no caller can catch it. So does an error of the handler itself. */
function failureReporter({ onStepFailed }: RealLoopOptions): (error: unknown, actor: string) => void {
  const throwUncaught = (error: unknown): void =>
    queueMicrotask(() => {
      throw error;
    });
  if (onStepFailed === undefined) return throwUncaught;
  return (error, actor) => {
    try {
      onStepFailed(error, actor);
    } catch (handlerError) {
      throwUncaught(handlerError);
    }
  };
}

function longStepReporter({
  metrics,
  log = silentLog,
}: RealLoopOptions): (actor: string, durationMs: number) => void {
  const longSteps = metrics?.counter({
    name: "setpoint_loop_long_steps_total",
    help: `Steps that blocked the event loop for more than ${LONG_STEP_MS} ms, by actor.`,
    labels: ["actor"],
  });
  return (actor, durationMs) => {
    if (durationMs <= LONG_STEP_MS) return;
    longSteps?.add(1, { actor: boundedPath(actor) });
    log.warn("a step blocked the event loop", {
      actor,
      durationMs: Math.round(durationMs),
    });
  };
}
