/**
 * Evaluates probe results against the thresholds. Their number is reported, or follows from the time: results come
 * with every tick.
 */
import type { Probe } from "../../api/generated/types/core-v1.ts";
import type { ProbeRun, ProbeStatus } from "./container-record.ts";

export interface ProbeAssessment {
  readonly probeStatus: ProbeStatus;
  /** Time of the next change if the results stay the same. */
  readonly changesAt: number | undefined;
}

export function assessProbe(run: ProbeRun | undefined, probe: Probe, now: number): ProbeAssessment {
  if (run === undefined) return { probeStatus: "open", changesAt: undefined };
  const { result, since, before } = run;
  const { periodSeconds = 10, successThreshold = 1, failureThreshold = 3 } = probe;
  const threshold = Math.max(1, result === "success" ? successThreshold : failureThreshold);
  const meaning: ProbeStatus = result === "success" ? "passes" : "fails";
  if (run.count !== undefined)
    return { probeStatus: run.count >= threshold ? meaning : before, changesAt: undefined };
  const reachedAt = since + (threshold - 1) * Math.max(1, periodSeconds) * 1000;
  if (now >= reachedAt) return { probeStatus: meaning, changesAt: undefined };
  return { probeStatus: before, changesAt: before === meaning ? undefined : reachedAt };
}
