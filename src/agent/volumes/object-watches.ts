/**
 * Watches the ConfigMaps and Secrets that volumes are made of: one watch for each object, shared by all its owners. A
 * watch only tells that an object has changed; its owners read it then. Nothing is missed: a watch that opens again
 * begins with the present object.
 */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import { ConfigMap, Secret } from "../../api/generated/types/core-v1.ts";
import { backoffMs } from "../../base/loop/backoff.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { pause } from "../../base/loop/pause.ts";
import type { Client } from "../../client/client.ts";
import type { ConfigReference } from "../pod/config-needs.ts";

/** Upper bound of open watches; owners of further objects are read periodically. */
const WATCHES_MAX = 1000;
const RETRY = { baseMs: 1000, maxMs: 30_000 };

export interface ObjectWatchesParts {
  readonly loop: Loop;
  readonly clientOf: (node: string) => Client;
  /** Whether the version, undefined for a deletion, differs from the one that was read last. */
  readonly isNews: (node: string, object: ConfigReference, version: string | undefined) => boolean;
  /** Called for each owner of an object with news. */
  readonly changed: (owner: string) => void;
}

interface WatchedObject {
  readonly owners: Set<string>;
  readonly ending: AbortController;
  readonly done: Promise<void>;
}

export class ObjectWatches {
  readonly #parts: ObjectWatchesParts;
  readonly #watched = new Map<string, WatchedObject>();
  readonly #keysOf = new Map<string, ReadonlySet<string>>();
  #hasEnded = false;

  constructor(parts: ObjectWatchesParts) {
    this.#parts = parts;
  }

  /** Watches these objects for the owner, and no others. Returns false if they are too many. */
  follow(owner: string, node: string, objects: readonly ConfigReference[]): boolean {
    if (this.#hasEnded) return true;
    const wanted = new Map(objects.map((object) => [keyOf(node, object), object]));
    for (const key of this.#keysOf.get(owner) ?? []) if (!wanted.has(key)) this.#leave(key, owner);
    const joined = new Set<string>();
    for (const [key, object] of wanted) if (this.#join(key, owner, { node, object })) joined.add(key);
    if (joined.size === 0) this.#keysOf.delete(owner);
    else this.#keysOf.set(owner, joined);
    return joined.size === wanted.size;
  }

  forget(owner: string): void {
    for (const key of this.#keysOf.get(owner) ?? []) this.#leave(key, owner);
    this.#keysOf.delete(owner);
  }

  /** Resolves when no watch is open. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    const watched = [...this.#watched.values()];
    for (const { ending } of watched) ending.abort();
    await Promise.all(watched.map(({ done }) => done));
  }

  #join(key: string, owner: string, place: WatchPlace): boolean {
    const known = this.#watched.get(key);
    if (known === undefined && this.#watched.size >= WATCHES_MAX) return false;
    (known ?? this.#open(key, place)).owners.add(owner);
    return true;
  }

  #open(key: string, place: WatchPlace): WatchedObject {
    const [owners, ending] = [new Set<string>(), new AbortController()];
    const watched = { owners, ending, done: this.#watch(place, owners, ending.signal) };
    this.#watched.set(key, watched);
    return watched;
  }

  #leave(key: string, owner: string): void {
    const watched = this.#watched.get(key);
    if (watched?.owners.delete(owner) !== true || watched.owners.size > 0) return;
    this.#watched.delete(key);
    watched.ending.abort();
  }

  async #watch(place: WatchPlace, owners: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const { loop } = this.#parts;
    let failures = 0;
    while (!signal.aborted) {
      try {
        for await (const version of this.#versions(place, signal)) this.#tell(place, owners, version);
        failures = 0;
      } catch {
        // The owners read periodically too, and report what fails then.
        failures++;
      }
      const ms = backoffMs(failures, RETRY, loop.random("object-watches"));
      await pause(loop, { ms, kind: "periodic" }, signal);
    }
  }

  #tell({ node, object }: WatchPlace, owners: ReadonlySet<string>, version: string | undefined): void {
    const { isNews, changed } = this.#parts;
    if (isNews(node, object, version)) for (const owner of owners) changed(owner);
  }

  /** The object's versions, the present one first; undefined for a deletion. */
  async *#versions({ node, object }: WatchPlace, signal: AbortSignal): AsyncGenerator<string | undefined> {
    const type: ResourceType<ApiObject> = object.kind === "secret" ? Secret : ConfigMap;
    const options = { namespace: object.namespace, fieldSelector: `metadata.name=${object.name}`, signal };
    const events = await this.#parts
      .clientOf(node)(type)
      .watch({ ...options, form: "metadata" });
    for await (const batch of events)
      for (const event of batch)
        if (event.type === "DELETED") yield undefined;
        else if (event.type !== "BOOKMARK") yield event.object.metadata.resourceVersion;
  }
}

interface WatchPlace {
  readonly node: string;
  readonly object: ConfigReference;
}

function keyOf(node: string, { kind, namespace, name }: ConfigReference): string {
  return `${node}/${kind}/${namespace}/${name}`;
}
