/** Preempts less important pods: plans, nominates the node, and deletes the victims. */

import { isApiError } from "../../api/errors/api-error.ts";
import { Pod } from "../../api/generated/types/core-v1.ts";
import { PodDisruptionBudget } from "../../api/generated/types/policy-v1.ts";
import type { RoutineParts } from "../../runtime/manager/routine.ts";
import { objectCause, withCause } from "../../runtime/manager/stated-cause.ts";
import type { Diagnosis } from "../framework/diagnosis.ts";
import type { Nominations } from "../framework/nominations.ts";
import type { Profile } from "../framework/profile.ts";
import type { SchedulingCycle } from "../framework/scheduler-plugin.ts";
import type { InFlightWrites } from "../in-flight-writes.ts";
import { disruptionPatch, clearNominationPatch } from "../pod-status-patch.ts";
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
  /** Activates an unschedulable pod. */
  readonly reactivate: (key: string) => void;
}

export class Preemptor {
  readonly #options: PreemptorOptions;
  /** Pods whose victims are being deleted. */
  readonly #preempting = new Set<string>();

  constructor(options: PreemptorOptions) {
    this.#options = options;
  }

  isPreempting(key: string): boolean {
    return this.#preempting.has(key);
  }

  /** Runs for a pod that fits on no node. Returns text to add to the reason; empty if victims make room. */
  preempt(cycle: SchedulingCycle, profile: Profile, diagnosis: Diagnosis): string {
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
    if (plan.type === "unhelpful") {
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
    // Never rejects: failures are handled here.
    void Promise.allSettled(evictions).then((results) => {
      this.#preempting.delete(pod.key);
      const failure = results.find((result) => result.status === "rejected");
      if (failure === undefined) return;
      // A victim stays: the pod must search again.
      parts.log.warn("cannot preempt pods", { pod: pod.key, error: failure.reason as unknown });
      this.#options.nominations.withdraw(pod.key);
      this.#options.reactivate(pod.key);
    });
  }

  /** Less important pods nominated for the same node must search again. */
  #withdrawLesser({ priority, key }: PodInfo, nodeName: string): void {
    const { nominations, reactivate, parts, writes } = this.#options;
    for (const other of [...nominations.on(nodeName)]) {
      if (other.key === key || other.priority >= priority) continue;
      nominations.withdraw(other.key);
      reactivate(other.key);
      const patch = clearNominationPatch(other.pod);
      const note = "is less important than another pod for its node";
      const client = withCause(parts.client, { loop: "kube-scheduler", type: Pod, object: other.pod, note });
      const written = writes.run(() => client(Pod).patch(other.pod, patch, { subresource: "status" }));
      written.catch((error: unknown) => {
        if (!isGone(error)) parts.log.warn("cannot clear a pod's nomination", { pod: other.key, error });
      });
    }
  }

  async #evict(victim: PodInfo, preemptor: PodInfo, nodeName: string): Promise<void> {
    const { parts, writes } = this.#options;
    // A terminating victim needs no deletion.
    if (victim.isTerminating) return;
    const patch = disruptionPatch(victim.pod, preemptor.schedulerName, parts.loop.now());
    try {
      const client = withCause(parts.client, {
        loop: "kube-scheduler",
        type: Pod,
        object: victim.pod,
        note: `makes room for ${preemptor.key}, which is more important`,
        reasons: [objectCause({ type: Pod, object: preemptor.pod })],
      });
      await writes.run(() => client(Pod).patch(victim.pod, patch, { subresource: "status" }));
      await writes.run(() => client(Pod).delete(victim.pod));
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

/** The pod is deleted or was replaced. */
function isGone(error: unknown): boolean {
  return isApiError(error, "NotFound") || isApiError(error, "Conflict");
}
