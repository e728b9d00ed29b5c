/**
 * The states of a watcher and its input, as data. `watcher-step.ts` has the transitions, `watcher.ts` executes them.
 *
 *            refused: no streaming list
 *    initial ───────────────────────────► listing ◄─┐ next page
 *       │                                    │ ─────┘
 *       │ complete                           │ complete
 *       └──────────────► watching ◄──────────┘
 *                        │      ▲
 *       410: list again ◄┘      │ ended by the server after a healthy time: resumes at once
 *                        └──────┘
 *    every state, on a failure ─► waiting ─► the same state, or the one that the failure demands
 */
import type { ApiObject } from "../../api/api-object.ts";
import type { Random, TimerKind } from "../../base/loop/loop.ts";
import type { WatcherEvent } from "./watcher-event.ts";
import type { Position } from "./watcher-position.ts";

export type WatcherState = BusyState | WaitingState;

/** States with a request in flight. */
export type BusyState = ListingState | InitialState | WatchingState;

/** Reads the state in pages. */
export interface ListingState {
  readonly name: "listing";
  readonly memory: WatcherMemory;
  readonly position: Position | undefined;
  /** Objects of the pages so far. Mutable: each step passes it on to the next. */
  readonly objects: ApiObject[];
  /** Continue token of the next page; undefined for the first page. */
  readonly token: string | undefined;
  /** Asks for the whole list at once, because a token expired before the last page. */
  readonly isWhole: boolean;
}

/** Reads the state as the initial events of a watch. */
export interface InitialState {
  readonly name: "initial";
  readonly memory: WatcherMemory;
  readonly position: Position | undefined;
  /** Objects received so far, by key. Mutable: each step passes it on to the next. */
  readonly objects: Map<string, ApiObject>;
  readonly openedAt: number | undefined;
}

/** Follows the changes after the position. */
export interface WatchingState {
  readonly name: "watching";
  readonly memory: WatcherMemory;
  readonly position: Position;
  /** Elapsed time; undefined until the server has accepted the watch. */
  readonly openedAt: number | undefined;
}

export interface WaitingState {
  readonly name: "waiting";
  readonly waitMs: number;
  /** `periodic` after many failures: a virtual clock then does not wait for the watcher. */
  readonly timer: TimerKind;
  readonly why: string;
  readonly next: BusyState;
}

export interface WatcherMemory {
  /** Failures since the last healthy watch. */
  readonly retries: number;
  /** False once the server refused a streaming list. */
  readonly streams: boolean;
  /** Set while the server's state is older than the delivered one. */
  readonly behind: ServerLag | undefined;
}

export interface ServerLag {
  /** Elapsed time of the loop. */
  readonly since: number;
  /** Number of older states received since. */
  readonly answers: number;
}

export type WatcherInput =
  | { readonly type: "opened" }
  | {
      readonly type: "page";
      readonly objects: readonly ApiObject[];
      readonly version: string;
      readonly token: string | undefined;
    }
  | { readonly type: "events"; readonly events: readonly IncomingEvent[] }
  | { readonly type: "refused"; readonly refusal: StatusError }
  /** The server ended the response normally. */
  | { readonly type: "ended" }
  /** No response, or the connection broke. */
  | { readonly type: "broken"; readonly why: string }
  /** Nothing arrived within the timeout. */
  | { readonly type: "silent" }
  | { readonly type: "woken" };

export type IncomingEvent =
  | {
      readonly type: "put" | "delete";
      readonly object: ApiObject;
      readonly key: string;
      readonly version: string;
    }
  | { readonly type: "bookmark"; readonly version: string; readonly isInitialEnd: boolean }
  | { readonly type: "error"; readonly refusal: StatusError }
  /** An item that is not a valid watch event. */
  | { readonly type: "malformed"; readonly why: string };

export interface StatusError {
  readonly code: number;
  readonly message: string;
  /** The server has not reached the requested revision yet. */
  readonly isAhead: boolean;
  readonly retryAfterSeconds: number | undefined;
}

export interface StepContext {
  /** Elapsed time of the loop. */
  readonly at: number;
  readonly random: Random;
}

export interface WatcherStep {
  readonly state: WatcherState;
  /** Events to be delivered in this order before the new state takes effect. */
  readonly deliver: readonly WatcherEvent<ApiObject>[];
}

export function firstState(position?: Position): BusyState {
  const memory = { retries: 0, streams: true, behind: undefined };
  return { name: "initial", memory, position, objects: new Map(), openedAt: undefined };
}
