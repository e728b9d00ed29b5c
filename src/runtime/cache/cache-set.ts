/**
 * The caches of a process: whoever asks for the same objects in the same form gets the same cache, with one watcher behind it. Watchers
 * run while the set does, those of caches that are asked for later too.
 */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import type { PartialObjectMetadata } from "../../api/generated/types/meta-v1.ts";
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { untilAborted } from "../../base/loop/until-aborted.ts";
import type { Metrics } from "../../base/metrics/metrics.ts";
import { endableSignal } from "../../client/call-signal.ts";
import type { Transport } from "../../client/transport.ts";
import type { WatcherScope } from "../watch/watcher-scope.ts";
import { kindText, scopeText } from "../watch/watcher-scope.ts";
import { Watcher } from "../watch/watcher.ts";
import { shapeOf } from "./cache-shape.ts";
import type { Projection } from "./cache-shape.ts";
import { Cache } from "./cache.ts";

export interface CacheSetOptions {
  readonly transport: Transport;
  readonly loop: Loop;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Which objects a cache holds: all of the kind unless restricted. */
export interface CacheScope<T extends ApiObject> extends Omit<WatcherScope, "type"> {
  /** Keeps less of each object. The same function means the same cache. */
  readonly project?: Projection<T>;
}

/** Beyond what a server that is updated takes to come back, and beyond the watchers' own patience. */
const BLIND_MS = 180_000;

/** A cache that somebody needs for a while. */
export interface HeldCache {
  readonly cache: Cache<ApiObject>;
  /** Once. When nobody holds it any more, its watcher ends and it goes. */
  readonly release: () => void;
}

interface Member {
  readonly kind: string;
  readonly text: string;
  readonly project: Projection<ApiObject> | undefined;
  readonly cache: Cache<ApiObject>;
  readonly watcher: Watcher<ApiObject>;
  /** Aborted when nobody holds it any more; never for what was asked for with `use`. */
  readonly leaving: AbortController;
  holders: number;
  isUsed: boolean;
}

interface Run {
  readonly ending: AbortController;
  readonly watchers: Set<Promise<void>>;
}

export class CacheSet {
  readonly #options: CacheSetOptions;
  readonly #loop: Loop;
  readonly #members: Member[] = [];
  /** By kind: ends what is measured of it. */
  readonly #measures = new Map<string, () => void>();
  #run: Run | undefined;

  constructor(options: CacheSetOptions) {
    this.#options = options;
    this.#loop = options.loop;
  }

  use<T extends ApiObject>(
    type: ResourceType<T>,
    scope: CacheScope<T> & { readonly form: "metadata" },
  ): Cache<PartialObjectMetadata>;
  use<T extends ApiObject>(type: ResourceType<T>, scope?: CacheScope<T>): Cache<T>;
  use<T extends ApiObject>(type: ResourceType<T>, { project, ...scope }: CacheScope<T> = {}): Cache<T> {
    const text = `${type.apiVersion} ${scopeText({ ...scope, type })}`;
    const anyProject = project as Projection<ApiObject> | undefined;
    const known = this.#members.find((member) => member.text === text && member.project === anyProject);
    const member = known ?? this.#add({ ...scope, type }, text, anyProject);
    member.isUsed = true;
    return member.cache as unknown as Cache<T>;
  }

  /**
   * All objects of a kind for as long as they are held: whole where there is a cache of them anyway, else their metadata only. For whoever
   * follows kinds that come and go.
   */
  hold(type: ResourceType): HeldCache {
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
    member.leaving.abort(new Error("nobody needs the cache any more"));
    if (this.#members.some(({ kind }) => kind === member.kind)) return;
    this.#measures.get(member.kind)?.();
    this.#measures.delete(member.kind);
  }

  /** Until the signal is aborted and all watchers have stopped. Rejects, with all of them stopped, when one of them is broken. */
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

  /** Resolves when the caches of these kinds, as `use` without restrictions gives them, have been filled. Rejects with the signal's reason. */
  async synced(types: readonly ResourceType[], signal: AbortSignal): Promise<void> {
    for (const type of types) await this.use(type).synced(signal);
  }

  /** Why what the caches show cannot be trusted to be recent; undefined when it can. */
  health(): string | undefined {
    if (this.#run === undefined) return undefined;
    const blind = this.#members.filter(({ watcher }) => this.#silenceMs(watcher) > BLIND_MS);
    if (blind.length === 0) return undefined;
    const names = blind.map(
      ({ text, watcher }) => `${text} (${String(seconds(this.#silenceMs(watcher)))} s)`,
    );
    return `nothing was heard from the server about ${names.join(", ")}`;
  }

  /** Since when nothing could be heard of a kind; of several caches the longest time. None while a watch is open, however silent. */
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
      help: "How often watchers entered a state; waiting means that something failed.",
      labels: ["kind", "state"],
    });
    const shape = shapeOf({
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
      leaving: new AbortController(),
      holders: 0,
      isUsed: false,
      cache: new Cache(cacheLog),
      watcher: new Watcher({
        ...scope,
        transport,
        loop: this.#loop.child(scope.type.plural),
        log,
        shape,
        onState: (state) => states.add(1, { kind, state }),
      }),
    };
    if (!this.#measures.has(kind)) this.#measures.set(kind, this.#measure(kind));
    this.#members.push(member);
    if (this.#run !== undefined) this.#start(member, this.#run);
    return member;
  }

  /** Several caches of one kind are measured together. */
  #measure(kind: string): () => void {
    const { metrics } = this.#options;
    const ofKind = (): readonly Member[] => this.#members.filter((member) => member.kind === kind);
    const objects = metrics.gauge({
      name: "setpoint_cache_objects",
      help: "Objects held in caches.",
      labels: ["kind"],
    });
    const endObjects = objects.read(() => sum(ofKind().map(({ cache }) => cache.size)), { kind });
    const silence = metrics.gauge({
      name: "setpoint_watcher_silence_seconds",
      help: "Time since a watcher last heard from its server. Bookmarks come each minute.",
      labels: ["kind"],
    });
    const longest = (): number => Math.max(0, ...ofKind().map(({ watcher }) => this.#silenceMs(watcher)));
    const endSilence = silence.read(() => (this.#run === undefined ? 0 : longest() / 1000), { kind });
    return () => {
      endObjects();
      endSilence();
    };
  }

  #start({ cache, watcher, leaving }: Member, { ending, watchers }: Run): void {
    const call = endableSignal([ending.signal, leaving.signal]);
    const ended = (): void => {
      call.release();
      // What was released has ended well; it is not waited for at the end of the run.
      if (leaving.signal.aborted) watchers.delete(running);
    };
    const running = watcher.run((event) => cache.apply(event), call.signal).finally(ended);
    watchers.add(running);
    running.catch((error: unknown) => ending.abort(error));
  }

  #silenceMs({ heardAt }: Watcher<ApiObject>): number {
    return this.#loop.elapsed() - heardAt;
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
