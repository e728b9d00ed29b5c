/**
 * The contract between the runtime and a controller: the kinds it watches and the code it runs.
 *
 * `reconcile` may be called at any time and any number of times, and does not learn why. It compares the declared
 * state with the actual one and acts on the difference. The runtime guarantees: one pass per key at a time; no pass
 * sees a cache older than the controller's own writes and reads for that key (read-your-writes); failures are retried
 * with back-off; a pass is aborted when the lead is lost.
 */
import type { ApiObject, ObjectKey, ResourceType } from "../../api/api-object.ts";
import type { LabelSelector } from "../../api/generated/types/meta-v1.ts";
import type { Log } from "../../base/log/log.ts";
import type { Random, TimerKind } from "../../base/loop/loop.ts";
import type { Client } from "../../client/client.ts";
import type { CacheView, IndexFunction } from "../cache/cache-view.ts";
import type { ObjectChange } from "../cache/object-change.ts";
import type { RecordedEvent } from "../events/recorded-event.ts";
import type { ChildManifest, DeclaredChild } from "./child.ts";

/** Definition of a controller: what it watches, and the code that reconciles one object. */
export interface ControllerDefinition<T extends ApiObject> {
  /** Name in logs, metrics and Events, and field manager of its writes. */
  readonly name: string;
  /** Kind to reconcile. Each object is reconciled at the start, when it changes, and every `resyncMs`. */
  readonly for: ResourceType<T>;
  /** Kinds of the children. A change of a child reconciles the `for` object that controls it. Default: none. */
  readonly owns?: readonly ResourceType[];
  /** Other kinds whose changes reconcile objects of `for`; made by `watching`. Default: none. */
  readonly watches?: readonly WatchMapping[];
  /** Kinds that are read but whose changes trigger no pass. Default: none. */
  readonly reads?: readonly ResourceType[];
  /** Indexes for the caches; made by `indexing`. Default: none. */
  readonly indexes?: readonly IndexDefinition[];
  /** Changes of `for` objects that trigger a pass; see `generationChanged` and the other predicates. Default: all. */
  readonly when?: (change: ObjectChange<T>) => boolean;
  /** Upper bound of keys reconciled at once. Default: 4. */
  readonly concurrency?: number;
  /** Period after which all objects are reconciled again, in milliseconds. Default: never. */
  readonly resyncMs?: number;
  /**
   * Back-off after a failed pass, in milliseconds: it starts at `baseMs` and doubles up to `maxMs`. Default: 5 ms and
   * 5 minutes.
   */
  readonly retry?: { readonly baseMs: number; readonly maxMs: number };
  /**
   * Finalizer that objects get before their first `reconcile`. When an object is deleted, `finalize` runs instead.
   * The finalizer is removed once `finalize` returns without a recheck. Default: none.
   */
  readonly finalizer?: string;
  /** Cleans up before an object with `finalizer` is removed. */
  finalize?(object: T, context: ReconcileContext): Promise<Outcome>;
  /** Makes the actual state equal to the declared one. Must be idempotent. */
  reconcile(object: T, context: ReconcileContext): Promise<Outcome>;
  /** Called for a key whose object is gone. Only for controllers that keep state outside of owned objects. */
  vanished?(key: ObjectKey, context: ReconcileContext): Promise<Outcome>;
}

/**
 * Result of a pass. Undefined: done until something changes. A thrown error is retried with back-off, a
 * `TerminalError` only after a change.
 */
export type Outcome = Recheck | undefined | void;

/** Result of a pass that asks for another one. */
export interface Recheck {
  /** Time until the next pass, in milliseconds. */
  readonly recheckAfterMs: number;
  /**
   * Purpose of the pass. `progress` (default): work remains, so the cluster is not settled yet. `periodic`: a check
   * that repeats forever, for example a schedule or a measurement.
   */
  readonly timer?: TimerKind;
}

/** A kind to watch, and the keys that its changes concern. Made by `watching`. */
export interface WatchMapping {
  readonly type: ResourceType;
  /** Keys to reconcile after a change. Returning a key more than once is harmless. */
  readonly keysOf: (change: ObjectChange<ApiObject>, read: CacheReader) => Iterable<ObjectKey>;
}

/** Watches another kind: `keysOf` names the keys to reconcile after each of its changes. */
export function watching<T extends ApiObject>(
  type: ResourceType<T>,
  keysOf: (change: ObjectChange<T>, read: CacheReader) => Iterable<ObjectKey>,
): WatchMapping {
  return { type, keysOf: keysOf as WatchMapping["keysOf"] };
}

/** An index over a cached kind. Made by `indexing`. */
export interface IndexDefinition {
  readonly type: ResourceType;
  /** Name of the index, as passed to `CacheView.indexed`. */
  readonly name: string;
  readonly valuesOf: IndexFunction<ApiObject>;
}

/** Adds an index to a cached kind: `valuesOf` returns the values under which an object is found. */
export function indexing<T extends ApiObject>(
  type: ResourceType<T>,
  name: string,
  valuesOf: IndexFunction<T>,
): IndexDefinition {
  return { type, name, valuesOf: valuesOf as IndexFunction<ApiObject> };
}

/** The cache of a kind. Throws when the definition does not name the kind in `for`, `owns`, `watches` or `reads`. */
export type CacheReader = <T extends ApiObject>(type: ResourceType<T>) => CacheView<T>;

/** A selector with a further condition, for owners that may not claim everything the selector matches. */
export interface ClaimChoice<T extends ApiObject> {
  readonly selector: LabelSelector;
  readonly accepts: (object: T) => boolean;
}

/** Services for one pass. */
export interface ReconcileContext {
  /** Key of the reconciled object. */
  readonly key: ObjectKey;
  /** Read-only caches of the kinds that the definition names. */
  readonly cache: CacheReader;
  /** Client whose field manager is the controller's name. `signal` aborts its requests. */
  readonly client: Client;
  /** Current time in milliseconds since the epoch. */
  readonly clock: { readonly now: () => number };
  readonly random: Random;
  /** Runs long work of the pass, and other steps wherever the generator yields. */
  readonly inTurns: <T>(work: Generator<void, T>) => T | Promise<T>;
  /** Adds the controller, key and id of the pass to each line. */
  readonly log: Log;
  /** Aborted when the controller stops or loses its lead. */
  readonly signal: AbortSignal;

  /**
   * States the reason for the writes that follow, in a few words, for `setpoint why`. A later call replaces it.
   */
  readonly because: (note: string) => void;

  /** Records an Event about the object, as `kubectl describe` shows it. Never fails and never waits. */
  readonly event: (about: ApiObject, event: RecordedEvent) => void;

  /**
   * Objects of a kind that belong to `owner`: those it controls, and orphans that match the selector, which it
   * adopts. Controlled objects that no longer match are released. An owner that is being deleted adopts nothing.
   */
  readonly claim: <T extends ApiObject>(
    type: ResourceType<T>,
    owner: ApiObject,
    choice: LabelSelector | ClaimChoice<T>,
  ) => Promise<readonly T[]>;

  /**
   * Makes the children of the reconciled object equal to the declared ones, made by `child`. Applies each child
   * (server-side apply, with an owner reference), then deletes undeclared children of the kinds in `owns`.
   * Returns the live children in the order given. A child of another kind is refused with a `TerminalError`.
   */
  readonly children: (declared: readonly (DeclaredChild | ChildManifest)[]) => Promise<readonly ApiObject[]>;

  /**
   * Writes the status if it differs from the object's. Sets `observedGeneration` when the object has a generation.
   * Returns the newest object.
   */
  readonly updateStatus: <T extends ApiObject>(
    object: T,
    status: T extends { readonly status?: infer S } ? S : unknown,
  ) => Promise<T>;
}

/** Thrown by `reconcile` when a retry is useless until something changes. */
export class TerminalError extends Error {
  override readonly name = "TerminalError";
}

/** A defined controller of any kind, for `ManagerOptions.controllers`. */
export interface Controller {
  /** Its functions accept only objects of the kinds that the definition names. */
  readonly definition: ControllerDefinition<ApiObject>;
}

/** Checks the types of a definition and makes a controller of it for a manager. */
export function defineController<T extends ApiObject>(definition: ControllerDefinition<T>): Controller {
  // Safe: the manager passes only objects of the named kinds, whose types the definition has.
  return { definition: definition as unknown as ControllerDefinition<ApiObject> };
}
