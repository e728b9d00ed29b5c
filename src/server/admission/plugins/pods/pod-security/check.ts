/** Contract of a check: one requirement of the Pod Security Standards, and helpers for the text of its violations. */
import type { PodSpec } from "../../../../../api/generated/types/core-v1.ts";
import type { AnyContainer } from "../pod-containers.ts";

/** A pod or a pod template. */
export interface PodLike {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: PodSpec;
  /** Handler of its RuntimeClass; undefined without one. */
  readonly runtimeHandler?: string | undefined;
}

/** A pod as checks see it. */
export interface Inspected extends PodLike {
  /** Containers of all types. */
  readonly containers: readonly AnyContainer[];
}

export interface Violation {
  /** Short text, the only one in a summary of many pods. */
  readonly reason: string;
  /** Names the fields, containers and values. */
  readonly detail: string;
}

export type CheckPod = (pod: Inspected) => Violation | undefined;

export interface Check {
  /** Upstream's id. Violations are reported in the order of ids. */
  readonly id: string;
  /** Implementations by the minor version that introduced them. The newest one up to the policy's version applies. */
  readonly versions: ReadonlyMap<number, CheckPod>;
  /** Baseline check that this restricted check replaces with a stricter rule. */
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

/** Each value once, sorted. */
export function distinct(values: Iterable<string>): readonly string[] {
  return [...new Set(values)].toSorted();
}

/** `pod and containers "a", "b"`: the parts of a pod that set a forbidden value. Empty if there are none. */
export function settersText(isPod: boolean, containers: readonly string[]): string {
  const setters = [
    ...(isPod ? ["pod"] : []),
    ...(containers.length > 0 ? [named("container", containers)] : []),
  ];
  return setters.join(" and ");
}
