/**
 * Takes accepted transactions to the backend in batches: what is accepted while a batch is on its way becomes the next one.
 * So writers to different keys share a sync, and the order of revisions is the order of the calls.
 */
import { LANES, type Lane, type Loop } from "../base/loop/loop.ts";
import type { Backend } from "./backend.ts";
import type { Commit } from "./commit.ts";
import type { Advance, State } from "./state.ts";
import { isStoreError, StoreError } from "./store-error.ts";
import type { Committed } from "./store.ts";

/** A batch is not so long that the first writer in it waits for much; the last transaction may go beyond the bytes. */
const BATCH_COMMITS = 1024;
const BATCH_BYTES = 8 << 20;
/** Accepted and not yet durable; above this writers are turned away. */
const QUEUE_COMMITS = 50_000;
const QUEUE_BYTES = 128 << 20;
/**
 * On a quick disk a second batch is handed over while the first is written, so that this thread and the backend work at the
 * same time. On a slow one that would only halve the batches: there a sync is what must be shared.
 */
const QUICK_COMMIT_MS = 3;
const QUICK_CALLS = 2;
/**
 * On a quick disk so many commits do not wait for the end of the step. Otherwise writers that were answered together stay
 * together, and this thread and the backend wait for each other by turns. Chosen with 64 writers, where half of it cost more
 * in messages and syncs than it gained; other numbers of writers were not measured.
 */
const EAGER_COMMITS = 32;

export interface CommitListener {
  /** The state after what was pushed last: asked for when a batch is complete. */
  accepted(): State;
  /** The batch is durable; called before its writers are answered. */
  durable(batch: Advance): void;
  /** Everything accepted and not durable is lost: the backend had no room, nothing of it was written. */
  refused(error: StoreError): void;
  /** The backend failed with unknown outcome: the process must end. */
  broken(error: StoreError): void;
}

interface Writer {
  readonly answer: Committed;
  readonly resolve: (answer: Committed) => void;
  readonly reject: (error: StoreError) => void;
}

/** Complete once it has a state; then nothing is added. */
interface Batch {
  readonly commits: Commit[];
  readonly writers: Writer[];
  /** The first of those from which it, or one behind it, was written. */
  lane: Lane;
  bytes: number;
  state: State | undefined;
}

export class GroupCommit {
  readonly #loop: Loop;
  readonly #backend: Backend;
  readonly #listener: CommitListener;
  /** All but the last are complete. */
  #queue: Batch[] = [];
  #queueCommits = 0;
  #queueBytes = 0;
  /** Handed to the backend and not lost, in order. */
  #underWay: Batch[] = [];
  /** Calls of the backend that have not settled; more than `#underWay` has after a failure. */
  #calls = 0;
  /** The lane in which a step is posted that will send. */
  #posted: Lane | undefined;
  #commitMs = 0;
  #newest: Promise<unknown> = Promise.resolve();
  readonly #whenIdle: (() => void)[] = [];

  constructor(loop: Loop, backend: Backend, listener: CommitListener) {
    this.#loop = loop;
    this.#backend = backend;
    this.#listener = listener;
  }

  get isFull(): boolean {
    return this.#queueCommits >= QUEUE_COMMITS || this.#queueBytes >= QUEUE_BYTES;
  }

  /** Settles when the transaction is durable and the listener knows, with this answer. */
  push(commit: Commit, bytes: number, answer: Committed): Promise<Committed> {
    const written = new Promise<Committed>((resolve, reject) => {
      this.#add(commit, bytes, { answer, resolve, reject });
    });
    this.#newest = written;
    if (this.#queueCommits >= EAGER_COMMITS && this.#isEager) this.#send();
    else this.#post();
    return written;
  }

  /** Settles as the newest transaction does: when everything accepted so far is durable, or lost. */
  get newest(): Promise<unknown> {
    return this.#newest;
  }

  /** Resolves when nothing is queued or under way. */
  async drained(): Promise<void> {
    if (this.#isIdle) return;
    await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  #add(commit: Commit, bytes: number, writer: Writer): void {
    const { lane } = this.#loop;
    let batch = this.#queue.at(-1);
    if (batch === undefined || batch.state !== undefined) {
      batch = { commits: [], writers: [], lane, bytes: 0, state: undefined };
      this.#queue.push(batch);
    }
    for (const each of this.#queue) if (isBefore(lane, each.lane)) each.lane = lane;
    batch.commits.push(commit);
    batch.writers.push(writer);
    batch.bytes += bytes;
    this.#queueCommits += 1;
    this.#queueBytes += bytes;
    if (batch.commits.length >= BATCH_COMMITS || batch.bytes >= BATCH_BYTES)
      batch.state = this.#listener.accepted();
  }

  get #isIdle(): boolean {
    return this.#queue.length === 0 && this.#calls === 0;
  }

  /** Behind a failed batch nothing is sent before all calls have settled. */
  get #maySend(): boolean {
    if (this.#queue.length === 0 || this.#calls > this.#underWay.length) return false;
    return this.#calls < (this.#isQuick ? QUICK_CALLS : 1);
  }

  /** Loops and renewals share a sync instead: they have no clients on the other side of a socket that wait, and each message to the backend costs. */
  get #isEager(): boolean {
    return this.#loop.lane === "request" && this.#isQuick && this.#maySend;
  }

  get #isQuick(): boolean {
    return this.#commitMs < QUICK_COMMIT_MS;
  }

  /**
   * As a step of its own, so that what is written in one step goes in one batch, or in a few when it is much. In the lane of the writers: what waits there already
   * may write too, and goes with it. No writer waits for a lane behind its own.
   */
  #post(): void {
    const lane = this.#queue[0]?.lane;
    if (lane === undefined || !this.#maySend) return;
    if (this.#posted !== undefined && !isBefore(lane, this.#posted)) return;
    this.#posted = lane;
    this.#loop.post(lane, () => {
      if (this.#posted === lane) this.#posted = undefined;
      if (this.#maySend) this.#send();
    });
  }

  #send(): void {
    const batch = this.#queue.shift();
    if (batch === undefined) return;
    batch.state ??= this.#listener.accepted();
    this.#queueCommits -= batch.commits.length;
    this.#queueBytes -= batch.bytes;
    const startedAt = this.#loop.elapsed();
    this.#underWay.push(batch);
    this.#calls += 1;
    this.#backend.commit(batch.commits).then(
      () => {
        this.#commitMs = this.#loop.elapsed() - startedAt;
        this.#committed();
      },
      (cause: unknown) => this.#failed(batch, cause),
    );
    this.#post();
  }

  #committed(): void {
    const batch = this.#underWay.shift();
    if (batch?.state !== undefined) this.#listener.durable({ commits: batch.commits, state: batch.state });
    for (const { answer, resolve } of batch?.writers ?? []) resolve(answer);
    this.#settled();
  }

  /** What was accepted behind a lost batch was judged against a state that never came to be: it is lost with it. */
  #failed(batch: Batch, cause: unknown): void {
    if (this.#underWay.includes(batch)) this.#lose(cause);
    this.#settled();
  }

  #lose(cause: unknown): void {
    const lost = [...this.#underWay, ...this.#queue].flatMap(({ writers }) => writers);
    this.#underWay = [];
    this.#queue = [];
    this.#queueCommits = 0;
    this.#queueBytes = 0;
    if (isStoreError(cause, "NoSpace")) {
      this.#listener.refused(cause);
      for (const { reject } of lost) reject(cause);
      return;
    }
    const error = new StoreError("OutcomeUnknown", `the store failed while writing: ${String(cause)}`, {
      cause,
    });
    this.#listener.broken(error);
    for (const { reject } of lost) reject(error);
  }

  #settled(): void {
    this.#calls -= 1;
    this.#post();
    if (!this.#isIdle) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }
}

function isBefore(a: Lane, b: Lane): boolean {
  return a !== b && LANES.indexOf(a) < LANES.indexOf(b);
}
