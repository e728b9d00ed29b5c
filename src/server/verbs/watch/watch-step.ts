/**
 * Transition function of an open watch. Pure; `watch-events.ts` reads the store and carries out the result.
 *
 *    existing ──── caught up ────► following
 *        └────────────┬────────────────┘
 *                     ▼ end of the time, of the kind or of the store's watch; the client left
 *                   over
 */
import type { WatchEventAnswer } from "../../request/answer.ts";
import type { Alarm } from "./watch-clock.ts";
import { PIECE_OBJECTS } from "./watched-entries.ts";

export type WatchState = ExistingState | FollowingState | OverState;

/** Sends the objects that existed when the watch began. */
export interface ExistingState extends DueParts {
  readonly name: "existing";
  /** Events of several pieces, until they are enough for one batch: the selectors may match few objects. */
  readonly collected: readonly WatchEventAnswer[];
}

/** Sends the changes. */
export interface FollowingState extends DueParts {
  readonly name: "following";
}

export interface OverState {
  readonly name: "over";
}

interface DueParts {
  readonly isBookmarkDue: boolean;
  /** No change follows this revision, because the kind is no longer served. */
  readonly lastRevision: number;
}

export interface WatchRules {
  /** Revision after which the changes begin. */
  readonly after: number;
  readonly allowsBookmarks: boolean;
  /** Whether a bookmark marks the end of the existing objects. */
  readonly marksInitialEnd: boolean;
}

export type WatchInput =
  /** The client takes events. All changes up to the revision `through` were read. */
  | { readonly type: "asked"; readonly through: number }
  | { readonly type: "existing"; readonly events: readonly WatchEventAnswer[] }
  /** All existing objects were read. */
  | { readonly type: "caught up" }
  | { readonly type: "changes"; readonly events: readonly WatchEventAnswer[] }
  /** The store has nothing to read now. */
  | { readonly type: "idle" }
  | { readonly type: "rang"; readonly alarm: Alarm["type"] }
  /** The kind is no longer served from this revision on. */
  | { readonly type: "kind ended"; readonly revision: number; readonly through: number }
  /** The client left, or the store's watch ended. */
  | { readonly type: "ended" };

export interface WatchStep {
  readonly state: WatchState;
  /** Events for the client; undefined when there are none. */
  readonly events?: readonly WatchEventAnswer[] | undefined;
}

export const FIRST_STATE: WatchState = {
  name: "existing",
  collected: [],
  isBookmarkDue: false,
  lastRevision: Infinity,
};

const OVER: WatchStep = { state: { name: "over" } };

export function step(state: WatchState, input: WatchInput, rules: WatchRules): WatchStep {
  if (state.name === "over") return OVER;
  switch (input.type) {
    case "asked":
      return asked(state, input.through, rules);
    case "existing":
    case "caught up":
    case "idle":
      return state.name === "existing" ? existingStep(state, input, rules) : { state };
    case "changes":
      return input.events.length > 0 ? { state, events: input.events } : { state };
    case "rang":
    case "kind ended":
    case "ended":
      return interrupted(state, input);
  }
}

type Interruption = Extract<WatchInput, { readonly type: "rang" | "kind ended" | "ended" }>;

/** Handles an input that may come between two reads. */
function interrupted(state: ExistingState | FollowingState, input: Interruption): WatchStep {
  if (input.type === "ended") return OVER;
  if (input.type === "rang")
    return input.alarm === "end" ? OVER : { state: { ...state, isBookmarkDue: true } };
  const { revision, through } = input;
  return through >= revision ? OVER : { state: { ...state, lastRevision: revision } };
}

/** Sends no bookmark before the start revision of the watch. The client may have begun ahead of this server. */
function asked(state: ExistingState | FollowingState, through: number, rules: WatchRules): WatchStep {
  if (through >= state.lastRevision) return OVER;
  if (state.name === "existing" || !state.isBookmarkDue) return { state };
  const next = { ...state, isBookmarkDue: false };
  if (!rules.allowsBookmarks || through < rules.after) return { state: next };
  return { state: next, events: [{ type: "BOOKMARK", resourceVersion: String(through) }] };
}

type ExistingInput = Extract<WatchInput, { readonly type: "existing" | "caught up" | "idle" }>;

function existingStep(
  { collected, ...duties }: ExistingState,
  input: ExistingInput,
  rules: WatchRules,
): WatchStep {
  if (input.type === "caught up") {
    const { isBookmarkDue, lastRevision } = duties;
    const state: FollowingState = { name: "following", isBookmarkDue, lastRevision };
    return withEvents(state, rules.marksInitialEnd ? [...collected, initialEnd(rules)] : collected);
  }
  const emptied: ExistingState = { ...duties, collected: [] };
  if (input.type === "idle") return withEvents(emptied, collected);
  const events = collected.length === 0 ? input.events : [...collected, ...input.events];
  if (events.length >= PIECE_OBJECTS) return { state: emptied, events };
  return { state: { ...duties, collected: events } };
}

function withEvents(state: WatchState, events: readonly WatchEventAnswer[]): WatchStep {
  return events.length > 0 ? { state, events } : { state };
}

function initialEnd({ after }: WatchRules): WatchEventAnswer {
  return { type: "BOOKMARK", resourceVersion: String(after), isInitialEnd: true };
}
