/**
 * Recent history of an autoscaler: recommended sizes and changes of the target's size.
 *
 * The history is an annotation of the autoscaler, so that a new leader continues with it. The controller writes it only when the
 * recommendation changes. If the annotation is deleted or invalid, the stabilization window starts anew from the current size.
 */
import { isJsonObject } from "../../api/json/json-object.ts";

export const HISTORY_ANNOTATION = "autoscaler.setpoint.dev/history";

/** Interval between two reconciles of an autoscaler (upstream's --horizontal-pod-autoscaler-sync-period). */
export const PERIOD_MS = 15_000;

/** Upper bound of `earlier` and of `changes`: one entry a period over the longest window, one hour. */
const ENTRIES_MAX = 240;

export interface ScaleHistory {
  /** Current recommendation, valid since the last entry of `earlier` ended. */
  readonly recommended: number;
  /** Earlier recommendations that can still affect a window, oldest first. */
  readonly earlier: readonly Recommendation[];
  /** Size changes of the target, oldest first. */
  readonly changes: readonly SizeChange[];
}

export interface Recommendation {
  readonly replicas: number;
  /** Time of the last reconcile with this recommendation, in milliseconds since the epoch. */
  readonly until: number;
}

export interface SizeChange {
  readonly at: number;
  /** Difference in replicas; negative for a scale-down. */
  readonly by: number;
}

/** Ages at which entries stop to matter. */
export interface Windows {
  readonly upMs: number;
  readonly downMs: number;
  /** Longest period of the scaling policies. */
  readonly changesMs: number;
}

/** Undefined if the annotation is missing or invalid. */
export function readHistory(text: string | undefined): ScaleHistory | undefined {
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

export function writeHistory({ recommended, earlier, changes }: ScaleHistory): string {
  return JSON.stringify({
    recommended,
    ...(earlier.length > 0 && { earlier: earlier.map(({ until, replicas }) => [until, replicas]) }),
    ...(changes.length > 0 && { changes: changes.map(({ at, by }) => [at, by]) }),
  });
}

/** Adds a recommendation. The previous one was valid until one period ago. */
export function withRecommendation(
  known: ScaleHistory | undefined,
  replicas: number,
  { currentReplicas, now }: { readonly currentReplicas: number; readonly now: number },
): ScaleHistory {
  if (known === undefined) {
    const earlier = replicas === currentReplicas ? [] : [{ replicas: currentReplicas, until: now }];
    return { recommended: replicas, earlier, changes: [] };
  }
  if (known.recommended === replicas) return known;
  const before = { replicas: known.recommended, until: now - PERIOD_MS };
  return { ...known, recommended: replicas, earlier: [...known.earlier, before] };
}

export function withChange(history: ScaleHistory, change: SizeChange): ScaleHistory {
  return { ...history, changes: [...history.changes, change] };
}

/** Drops entries outside every window, and sizes that a later, more extreme recommendation hides. */
export function trimmed(
  history: ScaleHistory,
  { upMs, downMs, changesMs }: Windows,
  now: number,
): ScaleHistory {
  const earlier = history.earlier.filter(({ replicas, until }, at) => {
    const later = [...history.earlier.slice(at + 1).map((each) => each.replicas), history.recommended];
    const isPeak = until > now - downMs && later.every((each) => each < replicas);
    const isTrough = until > now - upMs && later.every((each) => each > replicas);
    return isPeak || isTrough;
  });
  const changes = history.changes.filter(({ at }) => at > now - changesMs);
  return { ...history, earlier: earlier.slice(-ENTRIES_MAX), changes: changes.slice(-ENTRIES_MAX) };
}

/** Greatest recommendation that was valid after `sinceMs`. */
export function highest({ recommended, earlier }: ScaleHistory, sinceMs: number): number {
  return Math.max(
    recommended,
    ...earlier.filter(({ until }) => until > sinceMs).map(({ replicas }) => replicas),
  );
}

export function lowest({ recommended, earlier }: ScaleHistory, sinceMs: number): number {
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
