/**
 * The states of a watcher and what can happen to it, as data. `watcher-step.ts` says what follows from what, `watcher.ts` carries it out.
 *
 *            refused: no streaming list
 *    initial ───────────────────────────► listing ◄─┐ next page
 *       │                                    │ ─────┘
 *       │ all of the state is here           │
 *       └──────────────► watching ◄──────────┘
 *                        │      ▲
 *       410: list again ◄┘      │ the server ended it after a healthy time: resumes at once
 *                        └──────┘
 *    from each of them, when it fails ─► waiting ─► back, or to where the failure sends it
 */
import type { ApiObject } from "../../api/api-object.ts";
import type { Random, TimerKind } from "../../base/loop/loop.ts";
import type { WatcherEvent } from "./watcher-event.ts";
import type { Position } from "./watcher-position.ts";

export type WatcherState = BusyState | WaitingState;

/** States in which a request is under way. */
export type BusyState = ListingState | InitialState | WatchingState;

/** Reads the state in pages. */
export interface ListingState {
  readonly name: "listing";
  readonly memory: WatcherMemory;
  readonly position: Position | undefined;
  /** From the pages so far. Handed on from step to step, by which it grows. */
  readonly objects: ApiObject[];
  /** Where the next page begins; undefined for the first. */
  readonly token: string | undefined;
  /** Asks for all at once: a token expired before the last page was read. */
  readonly isWhole: boolean;
}

/** Reads the state as the beginning of a watch. */
export interface InitialState {
  readonly name: "initial";
  readonly memory: WatcherMemory;
  readonly position: Position | undefined;
  /** What came so far, by key. Handed on from step to step, by which it grows. */
  readonly objects: Map<string, ApiObject>;
  readonly openedAt: number | undefined;
}

/** Follows the changes after the position. */
export interface WatchingState {
  readonly name: "watching";
  readonly memory: WatcherMemory;
  readonly position: Position;
  /** Undefined until the server has accepted the watch. */
  readonly openedAt: number | undefined;
}

export interface WaitingState {
  readonly name: "waiting";
  readonly waitMs: number;
  /** A watcher that has failed for long looks again from time to time: no quiet world waits for that. */
  readonly timer: TimerKind;
  readonly why: string;
  readonly next: BusyState;
}

export interface WatcherMemory {
  /** Failures since the last watch that lived for long. */
  readonly retries: number;
  /** Whether streaming lists are worth asking for. */
  readonly streams: boolean;
  /** Set while servers know less than was delivered. */
  readonly behind: Behind | undefined;
}

export interface Behind {
  /** By `Loop.elapsed`. */
  readonly since: number;
  /** How many states were answered meanwhile that were older. */
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
  | { readonly type: "refused"; readonly refusal: Refusal }
  /** In good order, by the server. */
  | { readonly type: "ended" }
  /** No answer, or the connection broke. */
  | { readonly type: "broken"; readonly why: string }
  /** Nothing came for longer than a living server keeps silent. */
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
  | { readonly type: "error"; readonly refusal: Refusal }
  /** Something that is no event of the API. */
  | { readonly type: "malformed"; readonly why: string };

export interface Refusal {
  readonly code: number;
  readonly message: string;
  /** The server has not reached the revision that was asked for. */
  readonly isAhead: boolean;
  readonly retryAfterSeconds: number | undefined;
}

export interface StepContext {
  /** `Loop.elapsed`. */
  readonly at: number;
  readonly random: Random;
}

export interface WatcherStep {
  readonly state: WatcherState;
  /** To be delivered in this order before the new state counts. */
  readonly deliver: readonly WatcherEvent<ApiObject>[];
}

export function firstState(position?: Position): BusyState {
  const memory = { retries: 0, streams: true, behind: undefined };
  return { name: "initial", memory, position, objects: new Map(), openedAt: undefined };
}
