/**
 * Evaluates probe results against the thresholds. Results come with every tick, so that their number follows
 * from the time.
 */
import type { Probe } from "../../api/generated/types/core-v1.ts";
import type { ProbeRun, Verdict } from "./container-record.ts";

export interface Judgement {
  readonly verdict: Verdict;
  /** Time of the next change if the results stay the same. */
  readonly changesAt: number | undefined;
}

export function judgeProbe(run: ProbeRun | undefined, probe: Probe, now: number): Judgement {
  if (run === undefined) return { verdict: "open", changesAt: undefined };
  const { result, since, before } = run;
  const { periodSeconds = 10, successThreshold = 1, failureThreshold = 3 } = probe;
  const threshold = Math.max(1, result === "success" ? successThreshold : failureThreshold);
  const meaning: Verdict = result === "success" ? "passes" : "fails";
  const reachedAt = since + (threshold - 1) * Math.max(1, periodSeconds) * 1000;
  if (now >= reachedAt) return { verdict: meaning, changesAt: undefined };
  return { verdict: before, changesAt: before === meaning ? undefined : reachedAt };
}
