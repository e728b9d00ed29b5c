/** The contract of a check: one thing that a level of the Pod Security Standards demands, and how what breaks it is said. */
import type { PodSpec } from "../../../../../api/generated/types/core-v1.ts";
import type { AnyContainer } from "../pod-containers.ts";

/** A pod, or the template of one. */
export interface PodLike {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: PodSpec;
}

/** A pod on the way through the checks. */
export interface Inspected extends PodLike {
  /** All of them. */
  readonly containers: readonly AnyContainer[];
}

export interface Violation {
  /** In a few words; all that is said of many pods at once. */
  readonly reason: string;
  /** Who and what exactly. */
  readonly detail: string;
}

export type CheckPod = (pod: Inspected) => Violation | undefined;

export interface Check {
  /** As upstream calls it; checks are told of in the order of these. */
  readonly id: string;
  /** By the first minor version that judges so; the newest one that is not too new counts. */
  readonly versions: ReadonlyMap<number, CheckPod>;
  /** Of a check of the restricted level: checks of the baseline that it says more strictly. */
  readonly overrides?: string;
}

/** `"a", "b"`. */
export function quotedList(names: Iterable<string>): string {
  return [...names].map((name) => `"${name}"`).join(", ");
}

/** `container "a"`, `containers "a", "b"`. */
export function named(noun: string, names: readonly string[]): string {
  return `${counted(noun, names.length)} ${quotedList(names)}`;
}

export function counted(noun: string, count: number): string {
  return count === 1 ? noun : `${noun}s`;
}

/** Each once, in order. */
export function distinct(values: Iterable<string>): readonly string[] {
  return [...new Set(values)].toSorted();
}

/** `pod and containers "a", "b"`: who set what must not be set. Empty when nobody did. */
export function settersText(isPod: boolean, containers: readonly string[]): string {
  const setters = [
    ...(isPod ? ["pod"] : []),
    ...(containers.length > 0 ? [named("container", containers)] : []),
  ];
  return setters.join(" and ");
}
