/**
 * A control loop that does not work key by key: the scheduler, the garbage collector, a node agent. A manager runs it
 * beside controllers, on the same caches, and stops it when the lead is lost.
 */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { Metrics } from "../../base/metrics/metrics.ts";
import type { Client } from "../../client/client.ts";
import type { CacheHandle } from "../cache/cache-set.ts";
import type { ObjectChange } from "../cache/object-change.ts";
import type { CacheReader, IndexDefinition } from "../controller/controller.ts";
import type { EventForm, RecordedEvent } from "../events/recorded-event.ts";

/** Definition of a control loop that does not work key by key. */
export interface Routine {
  /** Name in logs, metrics and Events, and field manager of its writes. */
  readonly name: string;
  /** Kinds whose caches are complete before `run` is called. */
  readonly reads: readonly ResourceType[];
  /** Indexes for the caches of `reads`; made by `indexing`. Default: none. */
  readonly indexes?: readonly IndexDefinition[];
  /** Form of its Events. Default: `counted`. */
  readonly events?: EventForm;
  /** Resolves when the signal is aborted and everything it started has ended. A rejection stops the manager. */
  run(parts: RoutineParts, signal: AbortSignal): Promise<void>;
}

/** Services that the manager passes to `Routine.run`. */
export interface RoutineParts {
  /** The routine's own child of the manager's loop. */
  readonly loop: Loop;
  /** Adds the routine's name to each line. */
  readonly log: Log;
  readonly metrics: Metrics;
  /** Client whose field manager is the routine's name. Its requests are aborted when the lead is lost. */
  readonly client: Client;
  /** Like `client`, with the client that `ManagerOptions.clientAs` returns for `actor`. */
  readonly clientAs: (actor: string) => Client;
  /** Cache of a kind that is named in `reads`. */
  readonly cache: CacheReader;
  /**
   * Calls the listener after the cache has applied a change, in order, from now on. Returns the function that
   * unsubscribes.
   */
  readonly subscribe: <T extends ApiObject>(
    type: ResourceType<T>,
    listener: (change: ObjectChange<T>) => void,
  ) => () => void;
  /**
   * Milliseconds for which the server could not be reached for a kind in `reads`. An open watch without events counts
   * as reached.
   */
  readonly silenceMs: (type: ResourceType) => number;
  /** Cache of a kind that is found while the routine runs. Use `cache` and `subscribe` for the kinds in `reads`. */
  readonly hold: (type: ResourceType) => CacheHandle;
  /** Records an Event about the object. Never fails and never waits. */
  readonly event: (about: ApiObject, event: RecordedEvent) => void;
}
