/** Makes room for important pods: plans, notes which node a pod waits for, and tells the others to go. */

import { isApiError } from "../../api/errors/api-error.ts";
import { Pod } from "../../api/generated/types/core-v1.ts";
import { PodDisruptionBudget } from "../../api/generated/types/policy-v1.ts";
import type { RoutineParts } from "../../runtime/manager/routine.ts";
import type { Diagnosis } from "../framework/diagnosis.ts";
import type { Nominations } from "../framework/nominations.ts";
import type { Cycle } from "../framework/plugin.ts";
import type { Profile } from "../framework/profile.ts";
import type { InFlightWrites } from "../in-flight-writes.ts";
import { disruptionPatch, withdrawPatch } from "../pod-status.ts";
import type { SchedulerMetrics } from "../scheduler-metrics.ts";
import type { ClusterSnapshot } from "../snapshot/cluster-snapshot.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";
import { planPreemption } from "./preemption-plan.ts";
import type { Candidate } from "./victims.ts";

export interface PreemptorOptions {
  readonly parts: RoutineParts;
  readonly snapshot: ClusterSnapshot;
  readonly nominations: Nominations;
  readonly writes: InFlightWrites;
  readonly metrics: SchedulerMetrics;
  /** Lets a parked pod try again. */
  readonly reactivate: (key: string) => void;
}

export class Preemptor {
  readonly #options: PreemptorOptions;
  /** Pods for which others are being told to go at this moment. */
  readonly #preempting = new Set<string>();

  constructor(options: PreemptorOptions) {
    this.#options = options;
  }

  isPreempting(key: string): boolean {
    return this.#preempting.has(key);
  }

  /** For a pod that fits nowhere. Answers what is to be added to the reason why; empty when others make room. */
  preempt(cycle: Cycle, profile: Profile, diagnosis: Diagnosis): string {
    const { parts, snapshot, nominations, metrics } = this.#options;
    const { pod } = cycle;
    metrics.triedPreemption();
    const plan = planPreemption(cycle, diagnosis, {
      profile,
      snapshot,
      nominations,
      budgets: parts.cache(PodDisruptionBudget).list(),
      isPreempting: this.#preempting.has(pod.key),
      random: parts.loop.random("preemption"),
    });
    if (plan.type === "ineligible") return plan.message;
    if (plan.type === "hopeless") {
      nominations.withdraw(pod.key);
      return plan.message;
    }
    nominations.nominate(pod, plan.candidate.node.name);
    this.#makeRoom(pod, plan.candidate);
    return "";
  }

  #makeRoom(pod: PodInfo, { node, victims }: Candidate): void {
    const { metrics, parts } = this.#options;
    metrics.preempted(victims.length);
    this.#preempting.add(pod.key);
    this.#withdrawLesser(pod, node.name);
    const evictions = victims.map((victim) => this.#evict(victim, pod, node.name));
    // Never rejects: what failed is looked at here.
    void Promise.allSettled(evictions).then((results) => {
      this.#preempting.delete(pod.key);
      const failure = results.find((result) => result.status === "rejected");
      if (failure === undefined) return;
      // Somebody stayed: the pod must look for room anew.
      parts.log.warn("a pod could not be preempted", { pod: pod.key, error: failure.reason as unknown });
      this.#options.nominations.withdraw(pod.key);
      this.#options.reactivate(pod.key);
    });
  }

  /** Less important pods that wait for the same node have to look again. */
  #withdrawLesser({ priority, key }: PodInfo, nodeName: string): void {
    const { nominations, reactivate, parts, writes } = this.#options;
    for (const other of [...nominations.on(nodeName)]) {
      if (other.key === key || other.priority >= priority) continue;
      nominations.withdraw(other.key);
      reactivate(other.key);
      const patch = withdrawPatch(other.pod);
      const written = writes.run(() => parts.client(Pod).patch(other.pod, patch, { subresource: "status" }));
      written.catch((error: unknown) => {
        if (!isGone(error)) parts.log.warn("a nomination could not be withdrawn", { pod: other.key, error });
      });
    }
  }

  async #evict(victim: PodInfo, preemptor: PodInfo, nodeName: string): Promise<void> {
    const { parts, writes } = this.#options;
    // One that is on its way out already needs no telling.
    if (victim.isTerminating) return;
    const patch = disruptionPatch(victim.pod, preemptor.schedulerName, parts.loop.now());
    try {
      await writes.run(() => parts.client(Pod).patch(victim.pod, patch, { subresource: "status" }));
      await writes.run(() => parts.client(Pod).delete(victim.pod));
    } catch (error) {
      if (!isGone(error)) throw error;
      return;
    }
    parts.event(victim.pod, {
      type: "Normal",
      reason: "Preempted",
      action: "Preempting",
      message: `Preempted by pod ${preemptor.uid} on node ${nodeName}`,
      reporter: preemptor.schedulerName,
      related: preemptor.pod,
    });
  }
}

/** Gone, or another one by now. */
function isGone(error: unknown): boolean {
  return isApiError(error, "NotFound") || isApiError(error, "Conflict");
}
