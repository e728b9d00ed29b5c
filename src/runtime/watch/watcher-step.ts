/** What follows when something happens to a watcher: pure, but for the collections that a state hands on to the next. */
import type { ApiObject } from "../../api/api-object.ts";
import { orderOfVersions } from "../refs/resource-version.ts";
import type { WatcherChange, WatcherEvent } from "./watcher-event.ts";
import {
  behind,
  failed,
  initialAgain,
  listingOf,
  quietly,
  reasonOf,
  relisted,
  retried,
} from "./watcher-failure.ts";
import { afterBookmark, afterChange, newestVersion } from "./watcher-position.ts";
import type { Position } from "./watcher-position.ts";
import type {
  BusyState,
  IncomingEvent,
  InitialState,
  ListingState,
  Refusal,
  StepContext,
  WatcherInput,
  WatcherMemory,
  WatcherState,
  WatcherStep,
  WatchingState,
} from "./watcher-state.ts";

/** A watch that lived this long shows a server in order: the next failure is a first one again. */
const HEALTHY_MS = 10_000;
/**
 * So many failures count at most before one that has brought something, which makes a wait of three seconds: where connections are short but lead somewhere, loops must not know less and
 * less. Going on from a known place costs a server little.
 */
const FRUITFUL_RETRIES = 5;
/**
 * A server that for this long, and so many times, answers even a read of the newest state with less than was delivered is not behind: its
 * store was set back to an earlier state, and that is the truth now.
 */
const BEHIND_PATIENCE_MS = 60_000;
const BEHIND_ANSWERS = 5;

const NOT_FOUND = 404;
const GONE = 410;
/** How servers refuse parameters that they do not know or do not offer. */
const UNSUPPORTED: ReadonlySet<number> = new Set([400, 405, 406, 415, 422, 501]);
/** Nothing to go on from: the kind went away, or the resource version or token means nothing to this server. */
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
      return quietly(input.type === "woken" ? state.next : state);
  }
}

function listingStep(state: ListingState, input: WatcherInput, context: StepContext): WatcherStep {
  switch (input.type) {
    case "page":
      for (const object of input.objects) state.objects.push(object);
      if (input.token !== undefined) return quietly({ ...state, token: input.token });
      return synced(state, { objects: state.objects, version: input.version, openedAt: undefined }, context);
    case "refused":
      return listingRefused(state, input.refusal, context);
    case "opened":
    case "events":
    case "woken":
      return quietly(state);
    case "ended":
    case "broken":
    case "silent":
      return failed(state, { why: whyOf(input), next: state }, context);
  }
}

function listingRefused(state: ListingState, refusal: Refusal, context: StepContext): WatcherStep {
  const { code, isAhead } = refusal;
  const { token, isWhole, position } = state;
  if (token !== undefined && code === GONE && !isWhole)
    return quietly({ ...state, objects: [], token: undefined, isWhole: true });
  const isUnknownPlace = code === GONE || LIST_AGAIN.has(code);
  if (token !== undefined && isUnknownPlace)
    return failed(state, { ...reasonOf(refusal), next: listingOf(state) }, context);
  if (isAhead || (position !== undefined && isUnknownPlace && code !== NOT_FOUND))
    return behind(state, refusal.message, context);
  return failed(state, { ...reasonOf(refusal), next: state }, context);
}

function initialStep(state: InitialState, input: WatcherInput, context: StepContext): WatcherStep {
  switch (input.type) {
    case "opened":
      return quietly({ ...state, openedAt: context.at });
    case "events":
      return initialEvents(state, input.events, context);
    case "refused":
      return initialRefused(state, input.refusal, context);
    case "silent":
      // It took the request and has sent all it will: a server that does not know of the end of initial events.
      if (state.openedAt !== undefined) return quietly(listingOf(withoutStreams(state)));
      return failed(state, { why: whyOf(input), next: initialAgain(state) }, context);
    case "ended":
    case "broken":
      return failed(state, { why: whyOf(input), next: initialAgain(state) }, context);
    case "page":
    case "woken":
      return quietly(state);
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
  return quietly(state);
}

function initialRefused(state: InitialState, refusal: Refusal, context: StepContext): WatcherStep {
  if (refusal.isAhead || refusal.code === GONE) return behind(state, refusal.message, context);
  if (UNSUPPORTED.has(refusal.code)) return quietly(listingOf(withoutStreams(state)));
  return failed(state, { ...reasonOf(refusal), next: initialAgain(state) }, context);
}

function watchingStep(state: WatchingState, input: WatcherInput, context: StepContext): WatcherStep {
  switch (input.type) {
    case "opened":
      return quietly({ ...state, openedAt: context.at });
    case "events":
      return watchingEvents(state, input.events, context);
    case "refused":
      return watchingRefused(state, input.refusal, context);
    case "ended":
    case "broken":
    case "silent":
      return watchingOver(rested(state, context), input, context);
    case "page":
    case "woken":
      return quietly(state);
  }
}

/** All changes up to the first thing that ends the watch are delivered together. */
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
  const reached = { ...state, memory: deliver.length > 0 ? eased(state.memory) : state.memory, position };
  if (over === undefined) return { state: reached, deliver };
  return { state: watchingBroken(reached, over, context).state, deliver };
}

/** Undefined when the event says nothing new. */
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
    return behind(rested(state, context), `the server is at ${event.version}`, context);
  const why = event.type === "malformed" ? event.why : "";
  return failed(state, { why, next: relisted(state) }, context);
}

function watchingRefused(refused: WatchingState, refusal: Refusal, context: StepContext): WatcherStep {
  const state = rested(refused, context);
  if (refusal.isAhead) return behind(state, refusal.message, context);
  if (refusal.code === GONE && state.memory.retries === 0) return quietly(retried(relisted(state)));
  const next = refusal.code === GONE || LIST_AGAIN.has(refusal.code) ? relisted(state) : state;
  return failed(state, { ...reasonOf(refusal), next: reopened(next) }, context);
}

function watchingOver(state: WatchingState, input: WatcherInput, context: StepContext): WatcherStep {
  const next = reopened(state);
  if (input.type === "ended" && isHealthy(state, context.at)) return quietly(next);
  return failed(state, { why: whyOf(input), next }, context);
}

interface Synced {
  readonly objects: readonly ApiObject[];
  readonly version: string;
  readonly openedAt: number | undefined;
}

/** A whole state is here. It counts unless it is older than what was delivered before. */
function synced(
  state: ListingState | InitialState,
  { objects, version, openedAt }: Synced,
  context: StepContext,
): WatcherStep {
  const { position, memory } = state;
  const isOlder = position !== undefined && orderOfVersions(version, newestVersion(position)) === "older";
  if (isOlder) {
    const { since, answers } = memory.behind ?? { since: context.at, answers: 0 };
    const isSetBack = answers + 1 >= BEHIND_ANSWERS && context.at - since >= BEHIND_PATIENCE_MS;
    const answered = { ...state, memory: { ...memory, behind: { since, answers: answers + 1 } } };
    if (!isSetBack) return behind(answered, `the server is at ${version}`, context);
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

function eased(memory: WatcherMemory): WatcherMemory {
  return memory.retries > FRUITFUL_RETRIES ? { ...memory, retries: FRUITFUL_RETRIES } : memory;
}

/** After a healthy time the failures before it are forgotten. */
function rested(state: WatchingState, context: StepContext): WatchingState {
  return isHealthy(state, context.at) ? { ...state, memory: { ...state.memory, retries: 0 } } : state;
}

/** A watch that was accepted and has lived for long enough to trust its server. */
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
      return "the server ended the connection early";
    case "silent":
      return "the server is silent";
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
