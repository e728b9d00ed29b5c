/**
 * A loop that does not go key by key: the scheduler, the garbage collector, a node agent. It runs under the same manager as controllers,
 * on the same caches, and ends with the same lead.
 */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { Metrics } from "../../base/metrics/metrics.ts";
import type { Client } from "../../client/client.ts";
import type { HeldCache } from "../cache/cache-set.ts";
import type { ObjectChange } from "../cache/object-change.ts";
import type { CacheReader, IndexDefinition } from "../controller/controller.ts";
import type { EventForm, RecordedEvent } from "../events/recorded-event.ts";

export interface Routine {
  /** Names the loop in logs, metrics, events and as owner of the fields it writes. */
  readonly name: string;
  /** In memory and complete before `run` is called. */
  readonly reads: readonly ResourceType[];
  readonly indexes?: readonly IndexDefinition[];
  /** `counted` unless given. */
  readonly events?: EventForm;
  /** Resolves when the signal is aborted and everything it started has ended; rejects when it broke. */
  run(parts: RoutineParts, signal: AbortSignal): Promise<void>;
}

export interface RoutineParts {
  /** A child of its own. */
  readonly loop: Loop;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Writes in the routine's name; aborted with the lead. */
  readonly client: Client;
  /** The same in the name of somebody for whom the routine speaks, where it may speak for several; else its own. */
  readonly clientAs: (actor: string) => Client;
  readonly cache: CacheReader;
  /** Told of each change after the cache has it, in order, from now on; until the function that comes back is called. */
  readonly subscribe: <T extends ApiObject>(
    type: ResourceType<T>,
    listener: (change: ObjectChange<T>) => void,
  ) => () => void;
  /** For how long nothing could be heard of a kind that it names in `reads`. A watch that is open tells by its silence that there is nothing new. */
  readonly silenceMs: (type: ResourceType) => number;
  /** For kinds that are found while the routine runs; `cache` and `subscribe` are for those that it names in `reads`. */
  readonly hold: (type: ResourceType) => HeldCache;
  readonly event: (about: ApiObject, event: RecordedEvent) => void;
}
