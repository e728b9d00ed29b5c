/** Transition function of a watcher. Pure, except for the collections that a state passes on to the next one. */
import type { ApiObject } from "../../api/api-object.ts";
import { orderOfVersions } from "../refs/resource-version.ts";
import type { WatcherChange, WatcherEvent } from "./watcher-event.ts";
import {
  retryBehindServer,
  failed,
  initialAgain,
  listingOf,
  withoutDelivery,
  reasonOf,
  relistingOf,
  retried,
} from "./watcher-failure.ts";
import { afterBookmark, afterChange, newestVersion } from "./watcher-position.ts";
import type { Position } from "./watcher-position.ts";
import type {
  BusyState,
  IncomingEvent,
  InitialState,
  ListingState,
  StatusError,
  StepContext,
  WatcherInput,
  WatcherMemory,
  WatcherState,
  WatcherStep,
  WatchingState,
} from "./watcher-state.ts";

/** A watch that lived this long is healthy: the failure count starts over. */
const HEALTHY_MS = 10_000;
/**
 * Upper bound of the failure count after a watch that delivered something; the back-off is then about 3 s. Where
 * connections are short but useful, caches must not grow stale. Resuming at a known position costs the server little.
 */
const RETRIES_AFTER_DELIVERY_MAX = 5;
/**
 * When a server returns older states for this long and this often, its store was restored from a backup. The watcher
 * then accepts the older state.
 */
const BEHIND_MAX_MS = 60_000;
const BEHIND_ANSWERS = 5;

const NOT_FOUND = 404;
const GONE = 410;
/** Codes with which servers refuse unknown or unsupported parameters. */
const UNSUPPORTED: ReadonlySet<number> = new Set([400, 405, 406, 415, 422, 501]);
/**
 * Codes that leave no position to resume from: the kind is gone, or the server does not know the resourceVersion or
 * token.
 */
const LIST_AGAIN: ReadonlySet<number> = new Set([400, NOT_FOUND, 422]);

export function step(state: WatcherState, input: WatcherInput, context: StepContext): WatcherStep {
  switch (state.name) {
    case "listing":
      return listingStep(state, input, context);
    case "initial":
      return initialStep(state, input, context);
    case "watching":
      return watchingStep(state, input, context);
    case "waiting":
      return withoutDelivery(input.type === "woken" ? state.next : state);
  }
}

function listingStep(state: ListingState, input: WatcherInput, context: StepContext): WatcherStep {
  switch (input.type) {
    case "page":
      for (const object of input.objects) state.objects.push(object);
      if (input.token !== undefined) return withoutDelivery({ ...state, token: input.token });
      return synced(state, { objects: state.objects, version: input.version, openedAt: undefined }, context);
    case "refused":
      return listingRefused(state, input.refusal, context);
    case "opened":
    case "events":
    case "woken":
      return withoutDelivery(state);
    case "ended":
    case "broken":
    case "silent":
      return failed(state, { why: whyOf(input), next: state }, context);
  }
}

function listingRefused(state: ListingState, refusal: StatusError, context: StepContext): WatcherStep {
  const { code, isAhead } = refusal;
  const { token, isWhole, position } = state;
  if (token !== undefined && code === GONE && !isWhole)
    return withoutDelivery({ ...state, objects: [], token: undefined, isWhole: true });
  const isUnknownPlace = code === GONE || LIST_AGAIN.has(code);
  if (token !== undefined && isUnknownPlace)
    return failed(state, { ...reasonOf(refusal), next: listingOf(state) }, context);
  if (isAhead || (position !== undefined && isUnknownPlace && code !== NOT_FOUND))
    return retryBehindServer(state, refusal.message, context);
  return failed(state, { ...reasonOf(refusal), next: state }, context);
}

function initialStep(state: InitialState, input: WatcherInput, context: StepContext): WatcherStep {
  switch (input.type) {
    case "opened":
      return withoutDelivery({ ...state, openedAt: context.at });
    case "events":
      return initialEvents(state, input.events, context);
    case "refused":
      return initialRefused(state, input.refusal, context);
    case "silent":
      // The server accepted the request but never marked the end of the initial events: it does not support them.
      if (state.openedAt !== undefined) return withoutDelivery(listingOf(withoutStreams(state)));
      return failed(state, { why: whyOf(input), next: initialAgain(state) }, context);
    case "ended":
    case "broken":
      return failed(state, { why: whyOf(input), next: initialAgain(state) }, context);
    case "page":
    case "woken":
      return withoutDelivery(state);
  }
}

function initialEvents(
  state: InitialState,
  events: readonly IncomingEvent[],
  context: StepContext,
): WatcherStep {
  const { objects, openedAt } = state;
  for (const [index, event] of events.entries()) {
    if (event.type === "put") objects.set(event.key, event.object);
    else if (event.type === "delete") objects.delete(event.key);
    else if (event.type === "error") return initialRefused(state, event.refusal, context);
    else if (event.type === "malformed")
      return failed(state, { why: event.why, next: initialAgain(state) }, context);
    else if (event.type === "bookmark" && event.isInitialEnd) {
      const first = synced(
        state,
        { objects: [...objects.values()], version: event.version, openedAt },
        context,
      );
      if (first.state.name !== "watching") return first;
      const rest = watchingEvents(first.state, events.slice(index + 1), context);
      return { state: rest.state, deliver: [...first.deliver, ...rest.deliver] };
    }
  }
  return withoutDelivery(state);
}

function initialRefused(state: InitialState, refusal: StatusError, context: StepContext): WatcherStep {
  if (refusal.isAhead || refusal.code === GONE) return retryBehindServer(state, refusal.message, context);
  if (UNSUPPORTED.has(refusal.code)) return withoutDelivery(listingOf(withoutStreams(state)));
  return failed(state, { ...reasonOf(refusal), next: initialAgain(state) }, context);
}

function watchingStep(state: WatchingState, input: WatcherInput, context: StepContext): WatcherStep {
  switch (input.type) {
    case "opened":
      return withoutDelivery({ ...state, openedAt: context.at });
    case "events":
      return watchingEvents(state, input.events, context);
    case "refused":
      return watchingRefused(state, input.refusal, context);
    case "ended":
    case "broken":
    case "silent":
      return watchingOver(withRetriesReset(state, context), input, context);
    case "page":
    case "woken":
      return withoutDelivery(state);
  }
}

/** Delivers all changes before the event that ends the watch together. */
function watchingEvents(
  state: WatchingState,
  events: readonly IncomingEvent[],
  context: StepContext,
): WatcherStep {
  const changes: WatcherChange<ApiObject>[] = [];
  let { position } = state;
  let isBookmarked = false;
  let over: IncomingEvent | undefined;
  for (const event of events) {
    const next = positionAfter(position, event);
    if (next === "over") {
      over = event;
      break;
    }
    if (next === undefined) continue;
    position = next;
    if (event.type === "put" || event.type === "delete")
      changes.push({ type: event.type, object: event.object });
    else isBookmarked = true;
  }
  const deliver = delivery(changes, position, isBookmarked && position !== state.position);
  const reached = {
    ...state,
    memory: deliver.length > 0 ? withCappedRetries(state.memory) : state.memory,
    position,
  };
  if (over === undefined) return { state: reached, deliver };
  return { state: watchingBroken(reached, over, context).state, deliver };
}

/** Undefined when the event is not new. */
function positionAfter(position: Position, event: IncomingEvent): Position | undefined | "over" {
  if (event.type === "error" || event.type === "malformed") return "over";
  if (event.type === "bookmark") return afterBookmark(position, event.version) ?? "over";
  return afterChange(position, event.version, event.key);
}

function delivery(
  changes: readonly WatcherChange<ApiObject>[],
  position: Position,
  hasProgress: boolean,
): readonly WatcherEvent<ApiObject>[] {
  const resourceVersion = newestVersion(position);
  if (changes.length > 0) return [{ type: "changes", changes, resourceVersion }];
  return hasProgress ? [{ type: "progress", resourceVersion }] : [];
}

function watchingBroken(state: WatchingState, event: IncomingEvent, context: StepContext): WatcherStep {
  if (event.type === "error") return watchingRefused(state, event.refusal, context);
  if (event.type === "bookmark")
    return retryBehindServer(withRetriesReset(state, context), `the server is at ${event.version}`, context);
  const why = event.type === "malformed" ? event.why : "";
  return failed(state, { why, next: relistingOf(state) }, context);
}

function watchingRefused(refused: WatchingState, refusal: StatusError, context: StepContext): WatcherStep {
  const state = withRetriesReset(refused, context);
  if (refusal.isAhead) return retryBehindServer(state, refusal.message, context);
  if (refusal.code === GONE && state.memory.retries === 0)
    return withoutDelivery(retried(relistingOf(state)));
  const next = refusal.code === GONE || LIST_AGAIN.has(refusal.code) ? relistingOf(state) : state;
  return failed(state, { ...reasonOf(refusal), next: reopened(next) }, context);
}

function watchingOver(state: WatchingState, input: WatcherInput, context: StepContext): WatcherStep {
  const next = reopened(state);
  if (input.type === "ended" && isHealthy(state, context.at)) return withoutDelivery(next);
  return failed(state, { why: whyOf(input), next }, context);
}

interface Synced {
  readonly objects: readonly ApiObject[];
  readonly version: string;
  readonly openedAt: number | undefined;
}

/** Handles a complete state. It is ignored when it is older than the delivered one. */
function synced(
  state: ListingState | InitialState,
  { objects, version, openedAt }: Synced,
  context: StepContext,
): WatcherStep {
  const { position, memory } = state;
  const isOlder = position !== undefined && orderOfVersions(version, newestVersion(position)) === "older";
  if (isOlder) {
    const { since, answers } = memory.behind ?? { since: context.at, answers: 0 };
    const isRestored = answers + 1 >= BEHIND_ANSWERS && context.at - since >= BEHIND_MAX_MS;
    const answered = { ...state, memory: { ...memory, behind: { since, answers: answers + 1 } } };
    if (!isRestored) return retryBehindServer(answered, `the server is at ${version}`, context);
  }
  return {
    state: {
      name: "watching",
      memory: { ...memory, behind: undefined },
      position: { complete: version },
      openedAt,
    },
    deliver: [{ type: "reset", objects, resourceVersion: version }],
  };
}

function withCappedRetries(memory: WatcherMemory): WatcherMemory {
  return memory.retries > RETRIES_AFTER_DELIVERY_MAX
    ? { ...memory, retries: RETRIES_AFTER_DELIVERY_MAX }
    : memory;
}

/** Resets the failure count if the watch was healthy. */
function withRetriesReset(state: WatchingState, context: StepContext): WatchingState {
  return isHealthy(state, context.at) ? { ...state, memory: { ...state.memory, retries: 0 } } : state;
}

/** True for a watch that was accepted and has lived long enough. */
export function isHealthy({ openedAt }: WatchingState, at: number): boolean {
  return openedAt !== undefined && at - openedAt >= HEALTHY_MS;
}

function reopened(state: BusyState): BusyState {
  return state.name === "watching" ? { ...state, openedAt: undefined } : state;
}

function withoutStreams(state: InitialState): InitialState {
  return { ...state, memory: { ...state.memory, streams: false } };
}

function whyOf(input: WatcherInput): string {
  switch (input.type) {
    case "ended":
      return "the server ended the watch early";
    case "silent":
      return "the server sent nothing in time";
    case "broken":
      return input.why;
    case "opened":
    case "page":
    case "events":
    case "refused":
    case "woken":
      return input.type;
  }
}
