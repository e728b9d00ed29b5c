/** Reactions of a watcher to a failure: it backs off, then retries the request or starts over. */
import { backoffMs } from "../../base/loop/backoff.ts";
import { newestVersion } from "./watcher-position.ts";
import type { Position } from "./watcher-position.ts";
import type {
  BusyState,
  InitialState,
  ListingState,
  StatusError,
  StepContext,
  WatcherMemory,
  WatcherState,
  WatcherStep,
} from "./watcher-state.ts";

/** The first retry comes soon, since most failures are short. The maximum equals client-go's. */
const BACKOFF = { baseMs: 100, maxMs: 30_000 };
/** Upper bound of the wait that a server may ask for. */
const MAX_RETRY_AFTER_MS = 120_000;
/**
 * After this many failures in a row the watcher lists in pages: short responses may succeed where a long one fails.
 */
const MAX_STREAM_TRIES = 3;

/** Backs off, then asks for the newest state without a resourceVersion: only that state is certain to be current. */
export function retryBehindServer(state: BusyState, why: string, context: StepContext): WatcherStep {
  const memory = { ...state.memory, behind: state.memory.behind ?? { since: context.at, answers: 0 } };
  const { position } = state;
  const known = position === undefined ? "" : `, ${newestVersion(position)} was delivered already`;
  return failed(state, { why: why + known, next: relistingOf({ ...state, memory }) }, context);
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
  return withoutDelivery({
    name: "waiting",
    waitMs: Math.max(backoffMs(retries, BACKOFF, random), askedMs),
    timer: isPolling ? "periodic" : "progress",
    why,
    next: retried(next),
  });
}

export function withoutDelivery(state: WatcherState): WatcherStep {
  return { state, deliver: [] };
}

export function retried<S extends BusyState>(state: S): S {
  return { ...state, memory: { ...state.memory, retries: state.memory.retries + 1 } };
}

/** Tries the streaming list again, or lists in pages after several failures. */
export function initialAgain(state: InitialState): BusyState {
  return state.memory.retries + 1 < MAX_STREAM_TRIES ? initialOf(state) : listingOf(state);
}

export function relistingOf(state: BusyState): ListingState | InitialState {
  return state.memory.streams && state.memory.retries < MAX_STREAM_TRIES
    ? initialOf(state)
    : listingOf(state);
}

interface Resumable {
  readonly memory: WatcherMemory;
  readonly position: Position | undefined;
}

function initialOf({ memory, position }: Resumable): InitialState {
  return { name: "initial", memory, position, objects: new Map(), openedAt: undefined };
}

export function listingOf({ memory, position }: Resumable): ListingState {
  return { name: "listing", memory, position, objects: [], token: undefined, isWhole: false };
}

export function reasonOf({ code, message, retryAfterSeconds }: StatusError): Omit<Failure, "next"> {
  return { why: `refused with ${String(code)}: ${message}`, retryAfterSeconds };
}
