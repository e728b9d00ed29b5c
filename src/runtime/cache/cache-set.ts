/**
 * The caches of a process. Requests for the same objects in the same form share one cache with one watcher. Watchers
 * run while the set runs, also those of caches that are requested later.
 */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import type { PartialObjectMetadata } from "../../api/generated/types/meta-v1.ts";
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { runInTurns } from "../../base/loop/run-in-turns.ts";
import { untilAborted } from "../../base/loop/until-aborted.ts";
import type { Metrics } from "../../base/metrics/metrics.ts";
import { endableSignal } from "../../client/call-signal.ts";
import type { Transport } from "../../client/transport.ts";
import { findObstacle } from "../obstacle/obstacle.ts";
import type { RequestFailure } from "../obstacle/obstacle.ts";
import { Obstacles } from "../obstacle/obstacles.ts";
import type { WatcherScope } from "../watch/watcher-scope.ts";
import { kindText, scopeText } from "../watch/watcher-scope.ts";
import { Watcher } from "../watch/watcher.ts";
import { transformOf } from "./cache-transform.ts";
import type { Projection } from "./cache-transform.ts";
import { Cache } from "./cache.ts";

/** Services that a `CacheSet` needs. */
export interface CacheSetOptions {
  /** Connection to the API server. */
  readonly transport: Transport;
  readonly loop: Loop;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Restricts a cache; by default it holds all objects of the kind. */
export interface CacheScope<T extends ApiObject> extends Omit<WatcherScope, "type"> {
  /** Reduces each object to save memory. Requests with the same function share a cache. */
  readonly project?: Projection<T>;
  /** Controller or routine that cannot run without the cache; messages name it. */
  readonly reader?: string;
}

/** More than a server needs to restart, and more than the watchers' own timeouts. */
const STALE_MS = 180_000;

/** A cache that exists until it is released. */
export interface CacheHandle {
  readonly cache: Cache<ApiObject>;
  /** Call once. After the last release the watcher stops and the cache is dropped. */
  readonly release: () => void;
}

interface Member {
  readonly kind: string;
  readonly text: string;
  readonly project: Projection<ApiObject> | undefined;
  readonly cache: Cache<ApiObject>;
  readonly watcher: Watcher<ApiObject>;
  /** Controllers and routines that cannot run without the cache. */
  readonly readers: Set<string>;
  /** Aborted after the last release; never for a cache requested with `use`. */
  readonly released: AbortController;
  holders: number;
  isUsed: boolean;
}

interface Run {
  readonly ending: AbortController;
  readonly watchers: Set<Promise<void>>;
}

/** Caches by kind, form and scope, with their watchers. */
export class CacheSet {
  readonly #options: CacheSetOptions;
  readonly #loop: Loop;
  readonly #members: Member[] = [];
  /** By kind: ends the metrics of the kind. */
  readonly #metricEnds = new Map<string, () => void>();
  readonly #obstacles: Obstacles;
  #run: Run | undefined;

  constructor(options: CacheSetOptions) {
    this.#options = options;
    this.#loop = options.loop;
    this.#obstacles = new Obstacles(options.log);
  }

  /** The cache of a kind, restricted by `scope`. The same arguments return the same cache. */
  use<T extends ApiObject>(
    type: ResourceType<T>,
    scope: CacheScope<T> & { readonly form: "metadata" },
  ): Cache<PartialObjectMetadata>;
  use<T extends ApiObject>(type: ResourceType<T>, scope?: CacheScope<T>): Cache<T>;
  use<T extends ApiObject>(
    type: ResourceType<T>,
    { project, reader, ...scope }: CacheScope<T> = {},
  ): Cache<T> {
    const text = `${type.apiVersion} ${scopeText({ ...scope, type })}`;
    const anyProject = project as Projection<ApiObject> | undefined;
    const known = this.#members.find((member) => member.text === text && member.project === anyProject);
    const member = known ?? this.#add({ ...scope, type }, text, anyProject);
    member.isUsed = true;
    if (reader !== undefined) member.readers.add(reader);
    // Safe: the text of a member names the kind of its objects.
    return member.cache as unknown as Cache<T>;
  }

  /**
   * Caches all objects of a kind until the result is released. Uses a cache of whole objects if one exists, else one
   * of their metadata. For callers that follow kinds as they appear and disappear.
   */
  hold(type: ResourceType): CacheHandle {
    const textOf = (scope: WatcherScope): string => `${type.apiVersion} ${scopeText(scope)}`;
    const [whole, metadata] = [{ type }, { type, form: "metadata" }] as const;
    const find = (text: string): Member | undefined =>
      this.#members.find((member) => member.text === text && member.project === undefined);
    const member =
      find(textOf(whole)) ?? find(textOf(metadata)) ?? this.#add(metadata, textOf(metadata), undefined);
    member.holders++;
    return { cache: member.cache, release: () => this.#release(member) };
  }

  #release(member: Member): void {
    member.holders--;
    if (member.holders > 0 || member.isUsed) return;
    this.#members.splice(this.#members.indexOf(member), 1);
    member.released.abort(new Error("the cache was released"));
    if (this.#members.some(({ kind }) => kind === member.kind)) return;
    this.#metricEnds.get(member.kind)?.();
    this.#metricEnds.delete(member.kind);
  }

  /**
   * Runs the watchers until the signal is aborted and all have stopped. When one fails, it stops the others and
   * rejects with its error.
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#run !== undefined) throw new Error("the caches are running already");
    const ending = new AbortController();
    const end = (): void => ending.abort(signal.reason);
    const run: Run = { ending, watchers: new Set() };
    this.#run = run;
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    for (const member of this.#members) this.#start(member, run);
    await untilAborted(ending.signal);
    const outcomes = await Promise.allSettled(run.watchers);
    signal.removeEventListener("abort", end);
    this.#run = undefined;
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  }

  /** Resolves when the unrestricted caches of these kinds have synced. Rejects with the signal's reason. */
  async synced(types: readonly ResourceType[], signal: AbortSignal): Promise<void> {
    for (const type of types) await this.use(type).synced(signal);
  }

  /** Reason why the caches cannot be filled or may be stale; undefined when they are current. */
  health(): string | undefined {
    if (this.#run === undefined) return undefined;
    const obstacle = this.#obstacles.health();
    if (obstacle !== undefined) return obstacle;
    const stale = this.#members.filter(({ watcher }) => this.#silenceMs(watcher) > STALE_MS);
    if (stale.length === 0) return undefined;
    const names = stale.map(
      ({ text, watcher }) => `${text} (${String(seconds(this.#silenceMs(watcher)))} s)`,
    );
    return `the server sent nothing for ${names.join(", ")}`;
  }

  /**
   * Milliseconds for which the server could not be reached for a kind; the longest of its caches. 0 while the watch
   * is open.
   */
  silenceMs(type: ResourceType): number {
    const kind = kindText(type);
    const ofKind = this.#members.filter((member) => member.kind === kind);
    return Math.max(0, ...ofKind.map(({ watcher }) => (watcher.isOpen ? 0 : this.#silenceMs(watcher))));
  }

  #add(scope: WatcherScope, text: string, project: Projection<ApiObject> | undefined): Member {
    const { transport, log, metrics } = this.#options;
    const kind = kindText(scope.type);
    const cacheLog = log.with({ cache: text });
    const states = metrics.counter({
      name: "setpoint_watcher_states_total",
      help: "Changes of watchers to a state; waiting means that a request failed.",
      labels: ["kind", "state"],
    });
    const transform = transformOf({
      type: scope.type,
      form: scope.form ?? "object",
      keepsManagedFields: transport.sharesValues === true,
      project,
      log: cacheLog,
    });
    const member: Member = {
      kind,
      text,
      project,
      readers: new Set(),
      released: new AbortController(),
      holders: 0,
      isUsed: false,
      cache: new Cache(cacheLog),
      watcher: new Watcher({
        ...scope,
        transport,
        loop: this.#loop.child(scope.type.plural),
        log,
        transform,
        onState: ({ name: state }) => states.add(1, { kind, state }),
        onFailure: (failure) => this.#noteFailure(member, scope, failure),
      }),
    };
    if (!this.#metricEnds.has(kind)) this.#metricEnds.set(kind, this.#publishMetrics(kind));
    this.#members.push(member);
    if (this.#run !== undefined) this.#start(member, this.#run);
    return member;
  }

  /** True when the log explains the failure: a loop waits for the cache until a person acts. */
  #noteFailure(
    { text, readers }: Member,
    { type, namespace }: WatcherScope,
    failure: RequestFailure | undefined,
  ): boolean {
    const [loop] = readers;
    if (loop === undefined) return false;
    const obstacle = failure && findObstacle(failure, { loop, namespace, type });
    const fields = { controller: [...readers].join(), kind: kindText(type) };
    this.#obstacles.note(text, { loop, obstacle, fields });
    return obstacle !== undefined;
  }

  /** Publishes metrics of all caches of a kind together. */
  #publishMetrics(kind: string): () => void {
    const { metrics } = this.#options;
    const ofKind = (): readonly Member[] => this.#members.filter((member) => member.kind === kind);
    const objects = metrics.gauge({
      name: "setpoint_cache_objects",
      help: "Objects held in caches.",
      labels: ["kind"],
    });
    const endObjects = objects.read(() => sum(ofKind().map(({ cache }) => cache.size)), { kind });
    const visits = metrics.counter({
      name: "setpoint_cache_visited_objects_total",
      help: "Objects that reads of caches visited.",
      labels: ["kind"],
    });
    const endVisits = visits.read(() => sum(ofKind().map(({ cache }) => cache.visited)), { kind });
    const silence = metrics.gauge({
      name: "setpoint_watcher_silence_seconds",
      help: "Time since a watcher last received anything. Bookmarks arrive each minute.",
      labels: ["kind"],
    });
    const longest = (): number => Math.max(0, ...ofKind().map(({ watcher }) => this.#silenceMs(watcher)));
    const endSilence = silence.read(() => (this.#run === undefined ? 0 : longest() / 1000), { kind });
    return () => {
      endObjects();
      endVisits();
      endSilence();
    };
  }

  #start({ cache, watcher, released }: Member, { ending, watchers }: Run): void {
    const call = endableSignal([ending.signal, released.signal]);
    const ended = (): void => {
      call.release();
      // A released watcher ends normally; the end of the run does not wait for it.
      if (released.signal.aborted) watchers.delete(running);
    };
    const running = watcher
      .run((event) => runInTurns(cache.applyInSlices(event), this.#loop, "loop"), call.signal)
      .finally(ended);
    watchers.add(running);
    running.catch((error: unknown) => ending.abort(error));
  }

  #silenceMs({ lastContactAt }: Watcher<ApiObject>): number {
    return this.#loop.elapsed() - lastContactAt;
  }
}

function sum(values: readonly number[]): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

function seconds(ms: number): number {
  return Math.round(ms / 1000);
}
