/** What a watcher does when something failed: wait, longer each time, and then try again or begin anew. */
import { backoffMs } from "../../base/loop/backoff.ts";
import { newestVersion } from "./watcher-position.ts";
import type { Position } from "./watcher-position.ts";
import type {
  BusyState,
  InitialState,
  ListingState,
  Refusal,
  StepContext,
  WatcherMemory,
  WatcherState,
  WatcherStep,
} from "./watcher-state.ts";

/** The first retry comes soon, since most breaks are short; the longest wait is that of other clients of Kubernetes. */
const BACKOFF = { baseMs: 100, maxMs: 30_000 };
/** A server may ask for more patience than our own, but not for ever. */
const MAX_RETRY_AFTER_MS = 120_000;
/** After so many failures in a row a streaming list is not tried again: pages get through where long answers do not. */
const MAX_STREAM_TRIES = 3;

/** Tries again later, and then asks for the newest state, whatever its resource version: only that can be trusted to be no old one. */
export function behind(state: BusyState, why: string, context: StepContext): WatcherStep {
  const memory = { ...state.memory, behind: state.memory.behind ?? { since: context.at, answers: 0 } };
  const { position } = state;
  const known = position === undefined ? "" : `, ${newestVersion(position)} was delivered before`;
  return failed(state, { why: why + known, next: relisted({ ...state, memory }) }, context);
}

interface Failure {
  readonly why: string;
  readonly retryAfterSeconds?: number | undefined;
  readonly next: BusyState;
}

export function failed({ memory }: BusyState, failure: Failure, { random }: StepContext): WatcherStep {
  const { why, retryAfterSeconds = 0, next } = failure;
  const { retries } = memory;
  const askedMs = Math.min(retryAfterSeconds * 1000, MAX_RETRY_AFTER_MS);
  const isPolling = BACKOFF.baseMs * 2 ** retries >= BACKOFF.maxMs;
  return quietly({
    name: "waiting",
    waitMs: Math.max(backoffMs(retries, BACKOFF, random), askedMs),
    timer: isPolling ? "periodic" : "progress",
    why,
    next: retried(next),
  });
}

export function quietly(state: WatcherState): WatcherStep {
  return { state, deliver: [] };
}

export function retried<S extends BusyState>(state: S): S {
  return { ...state, memory: { ...state.memory, retries: state.memory.retries + 1 } };
}

/** The same again, or in pages after several tries. */
export function initialAgain(state: InitialState): BusyState {
  return state.memory.retries + 1 < MAX_STREAM_TRIES ? initialOf(state) : listingOf(state);
}

export function relisted(state: BusyState): ListingState | InitialState {
  return state.memory.streams && state.memory.retries < MAX_STREAM_TRIES
    ? initialOf(state)
    : listingOf(state);
}

interface Begun {
  readonly memory: WatcherMemory;
  readonly position: Position | undefined;
}

function initialOf({ memory, position }: Begun): InitialState {
  return { name: "initial", memory, position, objects: new Map(), openedAt: undefined };
}

export function listingOf({ memory, position }: Begun): ListingState {
  return { name: "listing", memory, position, objects: [], token: undefined, isWhole: false };
}

export function reasonOf({ code, message, retryAfterSeconds }: Refusal): Omit<Failure, "next"> {
  return { why: `refused with ${String(code)}: ${message}`, retryAfterSeconds };
}
