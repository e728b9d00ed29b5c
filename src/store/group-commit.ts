/**
 * Sends accepted transactions to the backend in batches: transactions accepted while a batch is in flight form the next
 * one. So writers to different keys share a sync, and revisions follow the order of the calls.
 */
import { LANES, type Lane, type Loop } from "../base/loop/loop.ts";
import type { Backend } from "./backend.ts";
import type { Commit } from "./commit.ts";
import type { Advance, State } from "./state.ts";
import { isStoreError, StoreError } from "./store-error.ts";
import type { Committed } from "./store.ts";

/** Upper bounds of a batch, so that its first writer does not wait long. The last transaction may exceed the bytes. */
const BATCH_COMMITS = 1024;
const BATCH_BYTES = 8 << 20;
/** Upper bounds of accepted transactions that are not durable yet; above them writers are refused. */
const QUEUE_COMMITS = 50_000;
const QUEUE_BYTES = 128 << 20;
/**
 * On a quick disk a second batch is sent while the first is written, so that this thread and the backend work in
 * parallel. On a slow disk that would halve the batches, where sharing a sync matters most.
 */
const QUICK_COMMIT_MS = 3;
const QUICK_CALLS = 2;
/**
 * On a quick disk this many commits are sent before the step ends. Otherwise writers that were answered together stay
 * together, and this thread and the backend take turns waiting. Chosen with 64 writers, where half as many cost more in
 * messages and syncs than they gained; other numbers of writers were not measured.
 */
const EAGER_COMMITS = 32;

export interface CommitListener {
  /** Returns the state after the last pushed commit; called when a batch is complete. */
  accepted(): State;
  /** Called when the batch is durable, before its writers are answered. */
  durable(batch: Advance): void;
  /** Called when the backend had no space: it wrote nothing, and all accepted commits that are not durable are lost. */
  refused(error: StoreError): void;
  /** Called when the backend failed with unknown outcome; the process must end. */
  broken(error: StoreError): void;
}

interface Writer {
  readonly answer: Committed;
  readonly resolve: (answer: Committed) => void;
  readonly reject: (error: StoreError) => void;
}

/** A batch with a state is complete and accepts no more commits. */
interface Batch {
  readonly commits: Commit[];
  readonly writers: Writer[];
  /** Most urgent lane among the writers of this batch and of those behind it. */
  lane: Lane;
  bytes: number;
  state: State | undefined;
}

export class GroupCommit {
  readonly #loop: Loop;
  readonly #backend: Backend;
  readonly #listener: CommitListener;
  /** Batches to send, in order; all but the last are complete. */
  #queue: Batch[] = [];
  #queueCommits = 0;
  #queueBytes = 0;
  /** Batches in flight at the backend, in order; without lost ones. */
  #underWay: Batch[] = [];
  /** Unsettled calls of the backend; after a failure more than `#underWay` has. */
  #calls = 0;
  /** Lane of the posted step that will send the next batch. */
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

  /** Settles with `answer` when the transaction is durable and the listener has been called. */
  push(commit: Commit, bytes: number, answer: Committed): Promise<Committed> {
    const written = new Promise<Committed>((resolve, reject) => {
      this.#add(commit, bytes, { answer, resolve, reject });
    });
    this.#newest = written;
    if (this.#queueCommits >= EAGER_COMMITS && this.#isEager) this.#send();
    else this.#post();
    return written;
  }

  /** Settles like the newest transaction: when everything accepted so far is durable, or lost. */
  get newest(): Promise<unknown> {
    return this.#newest;
  }

  /** Resolves when no commit is queued or in flight. */
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

  /** After a failed batch nothing is sent until all calls have settled. */
  get #maySend(): boolean {
    if (this.#queue.length === 0 || this.#calls > this.#underWay.length) return false;
    return this.#calls < (this.#isQuick ? QUICK_CALLS : 1);
  }

  /**
   * Only client requests are sent early. Loops and lease renewals share a sync instead: no client waits for them at a
   * socket, and each message costs.
   */
  get #isEager(): boolean {
    return this.#loop.lane === "request" && this.#isQuick && this.#maySend;
  }

  get #isQuick(): boolean {
    return this.#commitMs < QUICK_COMMIT_MS;
  }

  /**
   * Posts the send as a separate step, so that all commits of one step share a batch, or a few when there are many. The
   * step runs in the writers' lane: steps queued there may add writes to the batch, and no writer waits for a less
   * urgent lane.
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

  /** Commits behind a lost batch are lost too: they were judged against a state that never came to exist. */
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
