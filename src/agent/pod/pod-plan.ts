/** Actions and result of a pass over a pod. */
import type { Container } from "../../api/generated/types/core-v1.ts";
import type { TimerKind } from "../../base/loop/loop.ts";
import type { ProbeType } from "../runtime-handler.ts";
import type { PodTermination } from "./pod-facts.ts";

export type PodAction =
  /** Asks the runtime for the image. */
  | { readonly type: "inspect"; readonly container: Container }
  | { readonly type: "pull"; readonly container: Container }
  /** The image name is invalid or absent from the node, or the container cannot be created. */
  | {
      readonly type: "refuse";
      readonly container: Container;
      readonly reason: "InvalidImageName" | "ErrImageNeverPull" | typeof CONFIG_ERROR;
      readonly message: string;
      /** Set when a change outside the pod may solve the problem. */
      readonly retryAfterMs?: number;
    }
  /** The sources of the environment must be known before the start. */
  | { readonly type: "lookup"; readonly container: Container; readonly isImageNew: boolean }
  /** `isImageNew`: false when an event must say that the image is already present. */
  | { readonly type: "start"; readonly container: Container; readonly isImageNew: boolean }
  /** A resize without a restart. */
  | { readonly type: "resize"; readonly container: Container }
  /** Returns the container to its initial phase. */
  | { readonly type: "reset"; readonly container: Container }
  | { readonly type: "probe"; readonly container: Container; readonly probe: ProbeType }
  | {
      readonly type: "stop";
      readonly container: Container;
      readonly delayMs: number;
      readonly graceMs: number;
      /** Message of the Event. */
      readonly message: string;
      /** True when a run with another image or size follows. */
      readonly isReplaced: boolean;
    };

export interface PodPlan {
  readonly actions: readonly PodAction[];
  readonly recheck: Recheck | undefined;
  readonly termination: PodTermination | undefined;
  /** The pod is ending, and the runtime has no run of it. */
  readonly hasEnded: boolean;
}

/** Reason for a container that cannot be created from its spec. */
export const CONFIG_ERROR = "CreateContainerConfigError";

export interface Recheck {
  readonly at: number;
  readonly kind: TimerKind;
}

export type StopAction = Extract<PodAction, { type: "stop" }>;

/** Minimum time for a container to end, also after a preStop hook that used up the grace period. */
export const LAST_GRACE_MS = 2000;

/** A preStop hook that sleeps delays the signal. */
export function stopAction(container: Container, graceMs: number, message: string): StopAction {
  const delayMs = Math.min((container.lifecycle?.preStop?.sleep?.seconds ?? 0) * 1000, graceMs);
  const times = { delayMs, graceMs: Math.max(graceMs, delayMs + LAST_GRACE_MS) };
  return { type: "stop", container, ...times, message, isReplaced: false };
}
