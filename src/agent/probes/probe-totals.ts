/** Counts the results of the probes of pods, over all runs of a container. */
import type { ContainerKey, ProbeType } from "../runtime-handler.ts";

export interface ProbeTotals {
  readonly container: string;
  readonly type: ProbeType;
  readonly success: number;
  readonly failure: number;
}

export class ProbeCounters {
  /** By pod uid, then by container and type. */
  readonly #totals = new Map<string, Map<string, ProbeTotals>>();

  count({ uid, container }: ContainerKey, type: ProbeType, result: "success" | "failure"): void {
    const ofPod = this.#totals.get(uid) ?? new Map<string, ProbeTotals>();
    const key = `${container}/${type}`;
    const before = ofPod.get(key) ?? { container, type, success: 0, failure: 0 };
    this.#totals.set(uid, ofPod.set(key, { ...before, [result]: before[result] + 1 }));
  }

  find(uid: string): readonly ProbeTotals[] {
    return [...(this.#totals.get(uid)?.values() ?? [])];
  }

  forget(uid: string): void {
    this.#totals.delete(uid);
  }
}
