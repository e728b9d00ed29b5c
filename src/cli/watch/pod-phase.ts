/** The phase of a pod as one cell shows it, with its shape, letter and colour. Pure. */
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { isAssigned, isReady } from "../../resources/pod/pod-state.ts";
import type { Tone } from "../terminal/style.ts";

/** In the order of a pod's life. */
export const POD_PHASES = [
  "unscheduled",
  "creating",
  "starting",
  "ready",
  "ending",
  "failing",
  "failed",
  "done",
] as const;

export type PodPhase = (typeof POD_PHASES)[number];

export interface PhaseLook {
  readonly shape: string;
  /** In place of the shape on terminals without colours. */
  readonly letter: string;
  readonly tone: Tone;
  readonly word: string;
}

/** A circle fills up while a pod starts; each phase has a shape of its own, so that colours are not needed. */
export const PHASE_LOOKS: Readonly<Record<PodPhase, PhaseLook>> = {
  unscheduled: { shape: "○", letter: "P", tone: "bright", word: "unscheduled" },
  creating: { shape: "◔", letter: "C", tone: "busy", word: "creating" },
  starting: { shape: "◑", letter: "N", tone: "waiting", word: "not ready" },
  ready: { shape: "●", letter: "R", tone: "good", word: "ready" },
  ending: { shape: "◌", letter: "T", tone: "ending", word: "terminating" },
  failing: { shape: "↻", letter: "L", tone: "bad", word: "crash loop" },
  failed: { shape: "✕", letter: "F", tone: "bad", word: "failed" },
  done: { shape: "✓", letter: "S", tone: "done", word: "succeeded" },
};

export function phaseOf(pod: Pod): PodPhase {
  const { phase } = pod.status;
  if (pod.metadata.deletionTimestamp !== undefined) return "ending";
  if (phase === "Succeeded") return "done";
  if (phase === "Failed") return "failed";
  if (!isAssigned(pod)) return "unscheduled";
  if (isFailing(pod)) return "failing";
  if (isReady(pod)) return "ready";
  return phase === "Running" ? "starting" : "creating";
}

/** A container has ended with an error, or cannot be started. */
function isFailing({ status }: Pod): boolean {
  const statuses = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  return statuses.some(({ state: { waiting, terminated } }) => {
    const reason = waiting?.reason ?? "";
    return /BackOff$|^Err|Error$|^Invalid/.test(reason) || (terminated?.exitCode ?? 0) !== 0;
  });
}
