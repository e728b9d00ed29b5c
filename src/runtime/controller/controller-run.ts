/**
 * The main loop of a controller. It turns cache changes into keys and keys into passes, and keeps the promises
 * of `controller.ts`.
 *
 * After its pass a key stays in work until the caches show the pass's writes and reads. A hot key, or one with long
 * passes, stays longer. Workers take other keys meanwhile.
 */
import type { ApiObject, ObjectKey } from "../../api/api-object.ts";
import type { Cause, ObjectName } from "../../api/causes/cause.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import type { Log } from "../../base/log/log.ts";
import { stackText } from "../../base/log/stack-text.ts";
import type { Loop, Timer } from "../../base/loop/loop.ts";
import { pause } from "../../base/loop/pause.ts";
import type { Metrics } from "../../base/metrics/metrics.ts";
import type { Client } from "../../client/client.ts";
import type { ObjectChange } from "../cache/object-change.ts";
import type { EventSink } from "../events/event-correlation.ts";
import { findObstacle, findRequestFailure } from "../obstacle/obstacle.ts";
import { Obstacles } from "../obstacle/obstacles.ts";
import { keyOf, objectKeyOf, keyLabel } from "../queue/work-key.ts";
import { WorkQueue, type WorkItem } from "../queue/work-queue.ts";
import { groupOf } from "../refs/owner-reference.ts";
import { AppliedManifests } from "./children.ts";
import { ControllerMetrics } from "./controller-metrics.ts";
import { TerminalError, type Controller, type ControllerDefinition, type Outcome } from "./controller.ts";
import type { ReconcileContext } from "./controller.ts";
import { addFinalizer, hasFinalizer, removeFinalizer } from "./finalizer.ts";
import { HotLoopGuard } from "./hot-loop-guard.ts";
import { KeyFeed } from "./key-feed.ts";
import { subscribeKeys } from "./key-mapping.ts";
import type { KnownKinds } from "./kinds.ts";
import { PassCause } from "./pass-cause.ts";
import { resultOf, type PassRecord, type PassResult } from "./pass-result.ts";
import { reconcileContext } from "./reconcile-context.ts";
import { RunningPasses } from "./running-passes.ts";
import { StatusWriter } from "./status-writer.ts";
import { WriteBarrier, type PassWrites } from "./write-barrier.ts";

/** Hides the latency of requests without flooding the server. */
const CONCURRENCY = 4;
/** Lower bound of a recheck: `recheckAfterMs: 0` must not become an endless loop. */
const RECHECK_MIN_MS = 1;

/** Passes of one key take at most a fifth of the time, however large its object. Short passes are not delayed. */
const PACE_FACTOR = 4;
const PACE_ABOVE_MS = 4;
const PACE_MAX_MS = 500;

/** Pause of a key after a pass that blocked the event loop for `blockedMs`. */
function paceOf(blockedMs: number): number {
  return blockedMs <= PACE_ABOVE_MS ? 0 : Math.min(PACE_MAX_MS, Math.ceil(blockedMs * PACE_FACTOR));
}

export interface ControllerParts {
  readonly loop: Loop;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly client: Client;
  /** All kinds that the definition names. */
  readonly kinds: KnownKinds;
  readonly recorder: EventSink;
  /** Called after each pass. */
  readonly onPass?: ((pass: PassRecord) => void) | undefined;
}

export class ControllerRun {
  readonly #definition: ControllerDefinition<ApiObject>;
  readonly #parts: ControllerParts;
  readonly #kinds: KnownKinds;
  readonly #queue: WorkQueue;
  readonly #barrier: WriteBarrier;
  readonly #guard: HotLoopGuard;
  readonly #statuses = new StatusWriter();
  readonly #applied = new AppliedManifests();
  readonly #metrics: ControllerMetrics;
  /** Prefix of the ids of this run's passes. */
  readonly #prefix: string;
  readonly #concurrency: number;
  readonly #feed: KeyFeed;
  readonly #inWork: RunningPasses;
  /** Requests of passes that fail until a person acts, by key. */
  readonly #obstacles: Obstacles;
  /** Reason of the current feed. */
  #why: "start" | "resync" = "start";
  #passes = 0;
  /** Posted steps that have not taken their key yet. */
  #posted = 0;
  #working = 0;
  /** Keys whose pass has ended but that are still in work. */
  #settling = 0;
  #running: { readonly signal: AbortSignal; readonly end: (error?: unknown) => void } | undefined;

  constructor(controller: Controller, parts: ControllerParts) {
    const { definition } = controller;
    const { name, retry, concurrency = CONCURRENCY } = definition;
    const { loop, metrics, recorder } = parts;
    const log = parts.log.with({ controller: name });
    this.#definition = definition;
    this.#parts = { ...parts, log };
    this.#concurrency = concurrency;
    this.#kinds = parts.kinds;
    this.#queue = new WorkQueue({ loop, ...(retry && { retry }), onReady: () => this.#pump() });
    this.#feed = new KeyFeed({
      loop,
      depth: () => this.#queue.depth,
      add: (object) => this.#addExisting(object),
    });
    this.#barrier = new WriteBarrier({ client: parts.client, kinds: this.#kinds, loop, log });
    this.#guard = new HotLoopGuard({ controller: name, loop, log, metrics, recorder });
    this.#metrics = new ControllerMetrics(name, metrics);
    this.#inWork = new RunningPasses({ controller: name, loop, log, metrics });
    this.#obstacles = new Obstacles(log);
    this.#prefix = Buffer.from(loop.random("reconcile-ids").bytes(4)).toString("hex");
  }

  /**
   * Call once, after the caches of its kinds have synced. Resolves when the signal is aborted and the last pass has
   * ended.
   */
  async run(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const watching = [this.#metrics.watch(this.#queue), this.#inWork.publish()];
    const unsubscribes = [...watching, ...this.#watchChanges()];
    const ended = new Promise<void>((resolve, reject) => {
      const end = (error?: unknown): void => (error === undefined ? resolve() : reject(error as Error));
      this.#running = { signal, end };
    });
    const stop = (): void => {
      this.#inWork.stop((error) => this.#running?.end(error));
      this.#endIfIdle();
    };
    signal.addEventListener("abort", stop, { once: true });
    const resync = this.#scheduleResync();
    try {
      this.#feedAll("start");
      await ended;
    } finally {
      signal.removeEventListener("abort", stop);
      resync.cancel();
      this.#inWork.close();
      for (const each of unsubscribes) each();
      this.#feed.end();
      this.#queue.clear();
    }
  }

  /** Reason why the controller is unhealthy. */
  health(): string | undefined {
    return this.#obstacles.health() ?? this.#inWork.health();
  }

  #watchChanges(): readonly (() => void)[] {
    const note = (change: ObjectChange<ApiObject>): void => {
      this.#barrier.noteChange(change);
      this.#guard.noteChange(change);
    };
    return [
      ...this.#kinds.caches.map((cache) => cache.subscribe(note)),
      ...subscribeKeys(this.#definition, this.#kinds, (key, cause) => this.#queue.add(key, cause)),
    ];
  }

  /** Feeds every object with low urgency, behind the keys of changed objects. */
  #feedAll(why: "start" | "resync"): void {
    this.#why = why;
    this.#feed.begin(this.#kinds.cache(this.#definition.for).walk());
  }

  #addExisting(object: ApiObject): void {
    const { for: type, when } = this.#definition;
    const why = this.#why;
    if (why === "start" && when?.({ before: undefined, after: object }) === false) return;
    const { namespace = "", name = "", resourceVersion = "" } = object.metadata;
    const { kind } = type;
    const found = { group: groupOf(type.apiVersion), kind, namespace, name, resourceVersion };
    const cause: Cause = why === "start" ? { type: "object", ...found } : { type: "resync" };
    this.#queue.add(keyOf(object.metadata), cause, "resync");
  }

  #scheduleResync(): Timer {
    const { resyncMs } = this.#definition;
    if (resyncMs === undefined) return { cancel: () => undefined };
    const { loop } = this.#parts;
    const next = (): Timer =>
      loop.timer(loop.now() + resyncMs, "periodic", () => {
        this.#feedAll("resync");
        timer = next();
      });
    let timer = next();
    return { cancel: () => timer.cancel() };
  }

  /** Posts a step for each key that can be taken now. */
  #pump(): void {
    if (this.#running === undefined || this.#running.signal.aborted) return;
    while (this.#posted + this.#working < this.#concurrency && this.#posted < this.#queue.depth) {
      this.#posted++;
      this.#parts.loop.post("loop", () => this.#takeOne());
    }
  }

  #takeOne(): void {
    this.#posted--;
    const { signal } = this.#running ?? {};
    const item = signal?.aborted === false ? this.#queue.take() : undefined;
    if (signal === undefined || item === undefined) {
      this.#endIfIdle();
      return;
    }
    this.#feed.taken();
    this.#working++;
    // A rejection here is a bug of the runtime; it ends the run.
    void this.#pass(item, signal).then(
      () => this.#endIfIdle(),
      (error: unknown) => this.#running?.end(error),
    );
  }

  #endIfIdle(): void {
    if (this.#running?.signal.aborted !== true) return;
    if (this.#posted + this.#working + this.#settling === 0) this.#running.end();
  }

  async #pass(item: WorkItem, signal: AbortSignal): Promise<void> {
    const { loop } = this.#parts;
    const id = `${this.#definition.name}/${this.#prefix}-${++this.#passes}`;
    const [startedAt, begunAt] = [loop.now(), loop.elapsed()];
    const writes = this.#barrier.begin();
    const effect: { last: ApiObject | undefined } = { last: undefined };
    const end = this.#inWork.begin(item.key);
    const attempt = this.#attempt(item.key, this.#context({ item, id, signal, writes, effect }));
    const paceMs = paceOf(loop.elapsed() - begunAt);
    const result = await attempt;
    if (!end()) return;
    const durationMs = loop.elapsed() - begunAt;
    this.#metrics.note(result.type, item.waitedMs, durationMs);
    this.#conclude(item.key, result);
    this.#report({ item, id, startedAt, durationMs, result });
    this.#working--;
    this.#pump();
    const recheckAfterMs = result.type === "recheck" ? result.afterMs : undefined;
    const holdMs = Math.max(
      paceMs,
      this.#guard.holdMs(item.key, item.causes, effect.last),
      this.#guard.noteRecheck(item.key, recheckAfterMs, this.#objectAt(item.key)),
    );
    const seen = this.#barrier.settled(writes, keyLabel(item.key), signal);
    if (seen === undefined && holdMs === 0) this.#queue.done(item.key);
    else await this.#settle(item.key, seen, holdMs);
  }

  /** Keeps the key in work until the caches show its writes, and a hot key for longer. */
  async #settle(key: string, seen: Promise<void> | undefined, holdMs: number): Promise<void> {
    this.#settling++;
    try {
      await seen;
      if (holdMs > 0) await this.#pause(holdMs);
    } finally {
      this.#settling--;
      this.#queue.done(key);
    }
  }

  #pause(ms: number): Promise<void> {
    return pause(this.#parts.loop, { ms, kind: "progress" }, this.#running?.signal);
  }

  /** Decides from the result of a pass when its key runs again. */
  #conclude(key: string, result: PassResult): void {
    const { log } = this.#parts;
    const isObstructed = this.#noteObstacle(key, result);
    switch (result.type) {
      case "done":
      case "vanished":
        this.#queue.forget(key);
        return;
      case "recheck":
        this.#queue.forget(key);
        this.#queue.addAfter(key, Math.max(RECHECK_MIN_MS, result.afterMs), result.timer);
        return;
      case "terminal":
        this.#queue.forget(key);
        log.error("a reconcile failed; it is not retried until something changes", {
          key: keyLabel(key),
          error: result.error,
          stack: stackText(result.error),
        });
        return;
      case "failed": {
        const retryAfterMs = Math.round(this.#queue.retry(key));
        // A conflict is how concurrent writers detect each other; it is no fault. An obstacle has its own line.
        const isNoise = isObstructed || isApiError(result.error, "Conflict");
        const level = isNoise ? "debug" : "warn";
        log[level]("a reconcile failed and is retried", {
          key: keyLabel(key),
          retryAfterMs,
          error: result.error,
          stack: stackText(result.error),
        });
        return;
      }
      case "aborted":
        return;
    }
  }

  /** True when a request of the pass fails until a person acts. */
  #noteObstacle(key: string, result: PassResult): boolean {
    const { name: loop } = this.#definition;
    const error = result.type === "failed" ? result.error : undefined;
    const failure = findRequestFailure(error);
    const obstacle = failure && findObstacle(failure, { loop, namespace: this.#kinds.namespace });
    this.#obstacles.note(key, { loop, obstacle, fields: { key: keyLabel(key), error } });
    return obstacle !== undefined;
  }

  /** Never rejects: an error that a controller throws becomes a result. */
  async #attempt(key: string, context: ReconcileContext): Promise<PassResult> {
    try {
      const object = this.#objectAt(key);
      if (object === undefined) {
        const outcome = await this.#definition.vanished?.(context.key, context);
        return outcome === undefined ? { type: "vanished" } : resultOf(outcome);
      }
      return resultOf(await this.#reconcile(object, context));
    } catch (error) {
      if (context.signal.aborted) return { type: "aborted" };
      return { type: error instanceof TerminalError ? "terminal" : "failed", error };
    }
  }

  async #reconcile(object: ApiObject, context: ReconcileContext): Promise<Outcome> {
    const { for: type, finalizer } = this.#definition;
    if (finalizer === undefined) return await this.#definition.reconcile(object, context);
    if (object.metadata.deletionTimestamp !== undefined)
      return await this.#finalize(object, finalizer, context);
    const kept = hasFinalizer(object, finalizer)
      ? object
      : await addFinalizer(context.client(type), object, finalizer);
    return kept === undefined ? undefined : await this.#definition.reconcile(kept, context);
  }

  /** Keeps the finalizer while `finalize` asks for a recheck. */
  async #finalize(object: ApiObject, finalizer: string, context: ReconcileContext): Promise<Outcome> {
    if (!hasFinalizer(object, finalizer)) return undefined;
    const outcome = await this.#definition.finalize?.(object, context);
    if (outcome === undefined) await removeFinalizer(context.client(this.#definition.for), object, finalizer);
    return outcome;
  }

  #context({ item, id, signal, writes, effect }: PassBeginning): ReconcileContext {
    const { loop, recorder, log } = this.#parts;
    const key = objectKeyOf(item.key);
    const cause = new PassCause(id, this.#subjectOf(key), item.causes);
    const client = this.#parts.client.with({
      fieldManager: this.#definition.name,
      cause: () => cause.text,
      signal,
      onWrite: (written) => {
        // Call both: `noteWrite` must see each write.
        const isUnknown = this.#guard.noteWrite(item.key, written);
        if (isUnknown && writes.isNew(written)) effect.last = written.object;
        writes.note(written);
      },
      // The next pass must not see a cache older than this read.
      onRead: (read) => writes.note(read),
      onUnknown: (write) => writes.noteUnknown(write),
    });
    const parts = {
      definition: this.#definition,
      kinds: this.#kinds,
      loop,
      recorder,
      statuses: this.#statuses,
      applied: this.#applied,
    };
    const object = this.#kinds.cache(this.#definition.for).find(key);
    const passLog = log.with({ key: keyLabel(item.key), reconcile: id });
    return reconcileContext(parts, { key, object, client, cause, log: passLog, signal });
  }

  #objectAt(key: string): ApiObject | undefined {
    return this.#kinds.cache(this.#definition.for).find(objectKeyOf(key));
  }

  #subjectOf({ namespace = "", name }: ObjectKey): ObjectName {
    const { apiVersion, kind } = this.#definition.for;
    return { group: groupOf(apiVersion), kind, namespace, name };
  }

  #report({ item, id, startedAt, durationMs, result }: PassEnd): void {
    const { namespace = "", name } = objectKeyOf(item.key);
    const controller = this.#definition.name;
    const { causes } = item;
    this.#parts.onPass?.({
      id,
      controller,
      namespace,
      name,
      causes,
      startedAt,
      durationMs,
      result: result.type,
      ...("error" in result && { error: result.error }),
      ...(result.type === "recheck" && { recheck: { afterMs: result.afterMs, timer: result.timer } }),
    });
  }
}

interface PassBeginning {
  readonly item: WorkItem;
  readonly id: string;
  readonly signal: AbortSignal;
  readonly writes: PassWrites;
  /** The last object that the pass really changed. */
  readonly effect: { last: ApiObject | undefined };
}

interface PassEnd {
  readonly item: WorkItem;
  readonly id: string;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly result: PassResult;
}
