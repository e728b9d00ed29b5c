/** What a verb answers, before it is known in which form the client wants it. */
import type { Status } from "../../api/errors/api-error.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import type { StoredResource } from "../objects/registry.ts";
import type { StoredObject } from "../objects/stored-object.ts";

export type Answer = ObjectAnswer | StoredAnswer | ListAnswer | WatchAnswer | StatusAnswer | NothingAnswer;

/** An object that is not as it stands in the store: a dry run, a review, a scale. */
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

/** `object` is undefined for a bookmark, which shows only the revision. */
export interface WatchEventAnswer {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly stored?: StoredObject;
  /** Where it differs from the stored object's own: deletions, and objects that no longer match. */
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

/** The events of a watch, to be taken when they are there, or waited for. Nothing is watched before the first is asked for. */
export interface WatchEvents extends AsyncIterable<readonly WatchEventAnswer[]> {
  /** What there is to tell: undefined while there is nothing, "end" when nothing will come any more. Does not throw. */
  take(): readonly WatchEventAnswer[] | "end" | undefined;
  /** Tells whoever takes that there may be something again: at once, in the midst of what made it so. */
  whenReady(listener: () => void): void;
  /** Nobody takes any more. */
  close(): void;
}

export interface StatusAnswer {
  readonly type: "status";
  readonly status: Status;
}

/** There is nothing to tell, which is no mistake. */
export interface NothingAnswer {
  readonly type: "nothing";
}
