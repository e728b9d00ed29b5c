/**
 * The contract between the runtime and a loop: what it looks at, what it does. One file is a controller: definition, reconcile, plan.
 *
 * `reconcile` may be called at any time, any number of times, and does not know why: it looks at what is, and acts on the difference. The
 * runtime sees to it that one key has one pass at a time, that a pass never sees a cache older than what its own loop last wrote or read for that
 * key (read-your-writes), that failures are retried with back-off, and that a pass ends when the loop loses its lead.
 */
import type { ApiObject, Manifest, ObjectKey, ResourceType } from "../../api/api-object.ts";
import type { LabelSelector } from "../../api/generated/types/meta-v1.ts";
import type { Log } from "../../base/log/log.ts";
import type { Random, TimerKind } from "../../base/loop/loop.ts";
import type { Client } from "../../client/client.ts";
import type { CacheView, IndexFunction } from "../cache/cache-view.ts";
import type { ObjectChange } from "../cache/object-change.ts";
import type { RecordedEvent } from "../events/recorded-event.ts";

export interface ControllerDefinition<T extends ApiObject> {
  /** Names the loop in logs, metrics, events and as owner of the fields it writes. */
  readonly name: string;
  /** Every object of this kind is reconciled: when it changes, at the start, and again every `resyncMs`. */
  readonly for: ResourceType<T>;
  /** A change of an object of these kinds concerns the object of `for` that controls it. */
  readonly owns?: readonly ResourceType[];
  /** Changes of other objects that concern keys of `for`; made by `watching`. */
  readonly watches?: readonly WatchMapping[];
  /** Kinds that are read but whose changes are no reason to look. */
  readonly reads?: readonly ResourceType[];
  /** Made by `indexing`. */
  readonly indexes?: readonly IndexDefinition[];
  /** Which changes of `for` objects are worth a look; all of them unless given. See predicates.ts. */
  readonly when?: (change: ObjectChange<T>) => boolean;
  /** How many keys are reconciled at once. */
  readonly concurrency?: number;
  readonly resyncMs?: number;
  readonly retry?: { readonly baseMs: number; readonly maxMs: number };
  /**
   * With a finalizer, objects get it before they are first reconciled, and `finalize` runs before they may go. It is taken off once `finalize`
   * has nothing more to look at (no `recheckAfterMs`).
   */
  readonly finalizer?: string;
  finalize?(object: T, context: ReconcileContext): Promise<Outcome>;
  reconcile(object: T, context: ReconcileContext): Promise<Outcome>;
  /** A key whose object is gone; for loops that keep something outside of owned objects. Most need no such thing. */
  vanished?(key: ObjectKey, context: ReconcileContext): Promise<Outcome>;
}

/** Undefined: done until something changes. Thrown errors are retried with back-off, a TerminalError only after a change. */
export type Outcome = Recheck | undefined | void;

export interface Recheck {
  readonly recheckAfterMs: number;
  /**
   * `progress`, unless given: something is still to be done, and the world is not quiet before. `periodic`: a look from time to time that comes
   * again for ever, such as a schedule or a measurement.
   */
  readonly timer?: TimerKind;
}

export interface WatchMapping {
  readonly type: ResourceType;
  /** Called for each change; the same key several times costs nothing. */
  readonly keysOf: (change: ObjectChange<ApiObject>, read: CacheReader) => Iterable<ObjectKey>;
}

export function watching<T extends ApiObject>(
  type: ResourceType<T>,
  keysOf: (change: ObjectChange<T>, read: CacheReader) => Iterable<ObjectKey>,
): WatchMapping {
  return { type, keysOf: keysOf as WatchMapping["keysOf"] };
}

export interface IndexDefinition {
  readonly type: ResourceType;
  readonly name: string;
  readonly valuesOf: IndexFunction<ApiObject>;
}

export function indexing<T extends ApiObject>(
  type: ResourceType<T>,
  name: string,
  valuesOf: IndexFunction<T>,
): IndexDefinition {
  return { type, name, valuesOf: valuesOf as IndexFunction<ApiObject> };
}

/** Only kinds that the definition names (`for`, `owns`, `watches`, `reads`) can be read; others are a bug and throw. */
export type CacheReader = <T extends ApiObject>(type: ResourceType<T>) => CacheView<T>;

/** A selector for owners to whom not everything that it matches can belong, for instance because of its name. */
export interface ClaimChoice<T extends ApiObject> {
  readonly selector: LabelSelector;
  readonly accepts: (object: T) => boolean;
}

export interface ReconcileContext {
  readonly key: ObjectKey;
  readonly cache: CacheReader;
  /** Writes in the loop's name; aborted with the pass. */
  readonly client: Client;
  readonly clock: { readonly now: () => number };
  readonly random: Random;
  readonly log: Log;
  /** Aborted when the loop ends or loses its lead. */
  readonly signal: AbortSignal;

  /** Records an Event about the object, as `kubectl describe` shows it. Never fails and never waits. */
  readonly event: (about: ApiObject, event: RecordedEvent) => void;

  /**
   * The objects of a kind that belong to `owner`: those it controls, and orphans that match the selector, which it adopts. Those it controls
   * that no longer match are released. Nothing is adopted by an owner that is being deleted.
   */
  readonly claim: <T extends ApiObject>(
    type: ResourceType<T>,
    owner: ApiObject,
    choice: LabelSelector | ClaimChoice<T>,
  ) => Promise<readonly T[]>;

  /**
   * Makes the children of the reconciled object be exactly these: applies what is declared (server-side apply, owner reference set), deletes
   * objects of the kinds in `owns` that it controls and that are not declared any more. Answers them as they are now, in the order given.
   */
  readonly children: (declared: readonly ChildManifest[]) => Promise<readonly ApiObject[]>;

  /** Writes the status if it differs from the object's, with `observedGeneration` where the object has a generation. Answers the newest object. */
  readonly updateStatus: <T extends ApiObject>(
    object: T,
    status: T extends { readonly status?: infer S } ? S : unknown,
  ) => Promise<T>;
}

export type ChildManifest = Manifest<ApiObject> & {
  readonly apiVersion: string;
  readonly kind: string;
  readonly [field: string]: unknown;
};

/** Thrown by `reconcile`: no use in trying again before something changes. */
export class TerminalError extends Error {
  override readonly name = "TerminalError";
}

/** Takes any kind: what a definition is about is its own business. */
export interface Controller {
  readonly definition: ControllerDefinition<never>;
}

export function defineController<T extends ApiObject>(definition: ControllerDefinition<T>): Controller {
  return { definition: definition as unknown as ControllerDefinition<never> };
}
