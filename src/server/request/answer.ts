/** The result of a verb, before content negotiation picks its form. */
import type { Status } from "../../api/errors/api-error.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import type { StoredResource } from "../objects/registry.ts";
import type { StoredObject } from "../objects/stored-object.ts";

export type Answer = ObjectAnswer | StoredAnswer | ListAnswer | WatchAnswer | StatusAnswer | NothingAnswer;

/** An object that is not stored in this form: a dry run, a review, a scale. */
export interface ObjectAnswer {
  readonly type: "object";
  readonly code: number;
  readonly object: ApiObject;
}

export interface StoredAnswer {
  readonly type: "stored";
  readonly code: number;
  readonly stored: StoredObject;
  readonly resource: StoredResource;
}

export interface ListAnswer {
  readonly type: "list";
  readonly items: readonly StoredObject[];
  readonly resource: StoredResource;
  readonly resourceVersion: string;
  readonly continueToken: string | undefined;
  readonly remainingItems: number | undefined;
}

/** `stored` is undefined for a bookmark, which carries only the revision. */
export interface WatchEventAnswer {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly stored?: StoredObject;
  /** Set where it differs from the stored object's own: deletions, and objects that no longer match. */
  readonly resourceVersion?: string;
  /** The last bookmark of the initial events. */
  readonly isInitialEnd?: boolean;
  readonly status?: Status;
}

export interface WatchAnswer {
  readonly type: "watch";
  readonly resource: StoredResource;
  readonly events: WatchEvents;
}

/** The events of a watch, polled by `take` or iterated. The watch starts with the first read. */
export interface WatchEvents extends AsyncIterable<readonly WatchEventAnswer[]> {
  /** Pending events; undefined when none are pending, "end" after the last one. Does not throw. */
  take(): readonly WatchEventAnswer[] | "end" | undefined;
  /** Calls the listener synchronously, from within the change that made events available. */
  whenReady(listener: () => void): void;
  /** Ends the watch: the reader takes no more events. */
  close(): void;
}

export interface StatusAnswer {
  readonly type: "status";
  readonly status: Status;
}

/** Success without a body. */
export interface NothingAnswer {
  readonly type: "nothing";
}
