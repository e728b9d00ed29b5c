/**
 * What an autoscaler has to know of the last minutes: which sizes were recommended, and by how much it changed the target. It is kept in an
 * annotation of the autoscaler, so that whoever takes over goes on with it, and it is written only when a recommendation differs from the one
 * before. Whoever deletes or spoils it gives up the past: the window then begins anew with the current size.
 */
import { isJsonObject } from "../../api/json/json-object.ts";

export const HISTORY_ANNOTATION = "autoscaler.setpoint.dev/history";

/** How often an autoscaler looks. */
export const PERIOD_MS = 15_000;

/** As many entries as fit into the longest window; of each sort. */
const ENTRIES_MAX = 240;

export interface History {
  /** Holds since the last of the earlier ones. */
  readonly recommended: number;
  /** Oldest first; those that could still matter. */
  readonly earlier: readonly Recommendation[];
  /** Oldest first. */
  readonly changes: readonly SizeChange[];
}

export interface Recommendation {
  readonly replicas: number;
  /** When it held for the last time; milliseconds since the epoch. */
  readonly until: number;
}

export interface SizeChange {
  readonly at: number;
  /** Negative when the target became smaller. */
  readonly by: number;
}

/** How far back anything matters. */
export interface Windows {
  readonly upMs: number;
  readonly downMs: number;
  /** Of the policies. */
  readonly changesMs: number;
}

/** Undefined when there is none that could be understood. */
export function readHistory(text: string | undefined): History | undefined {
  if (text === undefined) return undefined;
  const value = parsed(text);
  if (!isJsonObject(value)) return undefined;
  const { recommended, earlier = [], changes = [] } = value;
  const past = pairsOf(earlier);
  const moved = pairsOf(changes);
  if (!isCount(recommended) || past === undefined || moved === undefined) return undefined;
  return {
    recommended,
    earlier: past.map(([until, replicas]) => ({ until, replicas })),
    changes: moved.map(([at, by]) => ({ at, by })),
  };
}

export function writeHistory({ recommended, earlier, changes }: History): string {
  return JSON.stringify({
    recommended,
    ...(earlier.length > 0 && { earlier: earlier.map(({ until, replicas }) => [until, replicas]) }),
    ...(changes.length > 0 && { changes: changes.map(({ at, by }) => [at, by]) }),
  });
}

/** With a new recommendation. What was recommended before held until the last look. */
export function withRecommendation(
  known: History | undefined,
  replicas: number,
  { currentReplicas, now }: { readonly currentReplicas: number; readonly now: number },
): History {
  if (known === undefined) {
    const earlier = replicas === currentReplicas ? [] : [{ replicas: currentReplicas, until: now }];
    return { recommended: replicas, earlier, changes: [] };
  }
  if (known.recommended === replicas) return known;
  const before = { replicas: known.recommended, until: now - PERIOD_MS };
  return { ...known, recommended: replicas, earlier: [...known.earlier, before] };
}

export function withChange(history: History, change: SizeChange): History {
  return { ...history, changes: [...history.changes, change] };
}

/** Without what can no longer matter: an old size that a later one hides, and what lies before every window. */
export function trimmed(history: History, { upMs, downMs, changesMs }: Windows, now: number): History {
  const earlier = history.earlier.filter(({ replicas, until }, at) => {
    const later = [...history.earlier.slice(at + 1).map((each) => each.replicas), history.recommended];
    const isPeak = until > now - downMs && later.every((each) => each < replicas);
    const isTrough = until > now - upMs && later.every((each) => each > replicas);
    return isPeak || isTrough;
  });
  const changes = history.changes.filter(({ at }) => at > now - changesMs);
  return { ...history, earlier: earlier.slice(-ENTRIES_MAX), changes: changes.slice(-ENTRIES_MAX) };
}

/** The greatest size that was recommended in this time. */
export function highest({ recommended, earlier }: History, sinceMs: number): number {
  return Math.max(
    recommended,
    ...earlier.filter(({ until }) => until > sinceMs).map(({ replicas }) => replicas),
  );
}

export function lowest({ recommended, earlier }: History, sinceMs: number): number {
  return Math.min(
    recommended,
    ...earlier.filter(({ until }) => until > sinceMs).map(({ replicas }) => replicas),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function pairsOf(value: unknown): readonly (readonly [number, number])[] | undefined {
  if (!Array.isArray(value) || value.length > ENTRIES_MAX) return undefined;
  const pairs = value as readonly unknown[];
  return pairs.every(isPair) ? pairs : undefined;
}

function isPair(value: unknown): value is readonly [number, number] {
  return Array.isArray(value) && value.length === 2 && value.every(Number.isSafeInteger);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
