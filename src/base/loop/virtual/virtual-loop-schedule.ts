/**
 * State of a virtual loop: its clock, the steps that wait, and the seeded choice of the next one.
 *
 * The choice is among the heads of the queues, one queue per actor and kind. So the order within an actor's lane is
 * kept, and the seed decides the rest. Time stands still while a step is ready; then it jumps to the next timer.
 */

import { assert } from "../../assert.ts";
import { Fifo } from "../loop-fifo.ts";
import { TimerHeap, type DueEntry } from "../loop-timers.ts";
import type { Random, Step, Timer } from "../loop.ts";
import { seededRandom } from "../random.ts";
import { stepTag, type StepKind, type TraceRecorder } from "./virtual-loop-trace.ts";

interface QueuedStep {
  /** Undefined after the step ran or was cancelled. */
  step: Step | undefined;
}

interface TimerEntry extends QueuedStep, DueEntry {
  /** Joined when due. */
  readonly queue: StepQueue;
}

/** Steps of one actor and kind, first in, first out. */
export interface StepQueue {
  readonly actor: string;
  readonly kind: StepKind;
  readonly tag: number;
  readonly waiting: Fifo<QueuedStep>;
}

/** Receives the failure of a step: when it throws, or when its promise rejects. */
export type FailureSink = (failure: { error: unknown; actor: string; stepNumber: number }) => void;

interface ScheduleOptions {
  readonly seed: number;
  readonly startAt: number;
  readonly trace: TraceRecorder;
  readonly onFailure: FailureSink;
}

export class Schedule {
  readonly seed: number;
  readonly startAt: number;
  readonly #trace: TraceRecorder;
  readonly #onFailure: FailureSink;
  readonly #choices: Random;
  readonly #queues = new Map<string, StepQueue>();
  /** Queues that are not empty, each once. */
  readonly #ready: StepQueue[] = [];
  readonly #timers = new TimerHeap<TimerEntry>();
  #now: number;
  /** Number of steps and timers, ready or not, that are not periodic. */
  #workLeft = 0;

  constructor(options: ScheduleOptions) {
    this.seed = options.seed;
    this.startAt = options.startAt;
    this.#trace = options.trace;
    this.#onFailure = options.onFailure;
    this.#choices = seededRandom(options.seed, "", "choices");
    this.#now = options.startAt;
  }

  get now(): number {
    return this.#now;
  }

  /** True while anything but periodic timers is left to run. */
  get hasWork(): boolean {
    return this.#workLeft > 0;
  }

  /** Time of the next step if nothing is added: now, later, or never (infinity). */
  get nextAt(): number {
    if (this.#ready.length > 0) return this.#now;
    return Math.max(this.#now, this.#timers.next?.at ?? Infinity);
  }

  queue(actor: string, kind: StepKind): StepQueue {
    const key = `${actor}\0${kind}`;
    const known = this.#queues.get(key);
    if (known !== undefined) return known;
    const created: StepQueue = { actor, kind, tag: stepTag(actor, kind), waiting: new Fifo() };
    this.#queues.set(key, created);
    return created;
  }

  post(queue: StepQueue, step: Step): void {
    this.#workLeft++;
    this.#enqueue(queue, { step });
  }

  addTimer(queue: StepQueue, at: number, step: Step): Timer {
    // The message is made on failure only: as text, the time takes longer than all the rest.
    if (!Number.isFinite(at)) assert(false, `a timer's time is a finite number, found ${at}`);
    const tie = this.#choices.below(2 ** 32);
    // The clock shows whole milliseconds, like the machine's, and is never earlier than a timer that fires.
    const entry: TimerEntry = { queue, at: Math.ceil(at), step, tie, index: -1 };
    if (queue.kind === "progress") this.#workLeft++;
    this.#timers.add(entry);
    return { cancel: () => this.#cancel(entry) };
  }

  /** Moves the clock to `at`, but never back. */
  advanceClock(at: number): void {
    this.#now = Math.max(this.#now, at);
  }

  /** Runs one step. When none is ready, it first moves the clock to the next one. No-op when nothing is left. */
  runNext(): void {
    this.#wakeTimers();
    if (this.#ready.length === 0) return;
    const index = this.#choices.below(this.#ready.length);
    const queue = this.#ready[index];
    assert(queue !== undefined, "the chosen queue is one of those that are ready");
    const step = this.#dequeue(queue, index);
    if (step === undefined) return;
    if (queue.kind !== "periodic") this.#workLeft--;
    this.#trace.add(queue, this.#now - this.startAt);
    this.#run(step, queue.actor);
  }

  /** The remaining work for an error: one text per actor. */
  describeWork(): string[] {
    const counts = new Map<string, Map<string, number>>();
    const count = (actor: string, kind: string): void => {
      const ofActor = counts.get(actor) ?? new Map<string, number>();
      counts.set(actor, ofActor.set(kind, (ofActor.get(kind) ?? 0) + 1));
    };
    for (const queue of this.#ready) {
      for (const queued of queue.waiting)
        if (queued.step !== undefined) count(queue.actor, `ready ${queue.kind}`);
    }
    for (const { queue } of this.#timers) if (queue.kind === "progress") count(queue.actor, "progress timer");
    return [...counts].map(
      ([actor, kinds]) => `${actor}: ${[...kinds].map(([name, n]) => `${n} ${name}`).join(", ")}`,
    );
  }

  #wakeTimers(): void {
    this.#now = this.nextAt === Infinity ? this.#now : this.nextAt;
    for (
      let due = this.#timers.takeDue(this.#now);
      due !== undefined;
      due = this.#timers.takeDue(this.#now)
    ) {
      this.#enqueue(due.queue, due);
    }
  }

  #cancel(entry: TimerEntry): void {
    if (entry.step === undefined) return;
    entry.step = undefined;
    if (entry.queue.kind === "progress") this.#workLeft--;
    this.#timers.remove(entry);
  }

  #enqueue(queue: StepQueue, queued: QueuedStep): void {
    queue.waiting.push(queued);
    if (queue.waiting.length === 1) this.#ready.push(queue);
  }

  /** Undefined for a timer that was cancelled after it became due. */
  #dequeue(queue: StepQueue, index: number): Step | undefined {
    const queued = queue.waiting.shift();
    assert(queued !== undefined, "a ready queue is not empty");
    if (queue.waiting.length === 0) this.#removeReady(index);
    const { step } = queued;
    queued.step = undefined;
    return step;
  }

  #removeReady(index: number): void {
    const last = this.#ready.pop();
    if (last !== undefined && index < this.#ready.length) this.#ready[index] = last;
  }

  #run(step: Step, actor: string): void {
    const stepNumber = this.#trace.steps;
    const failed = (error: unknown): void => this.#onFailure({ error, actor, stepNumber });
    try {
      const promise = step();
      if (promise !== undefined) promise.then(undefined, failed);
    } catch (error) {
      failed(error);
    }
  }
}
