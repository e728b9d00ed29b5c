/** Figures about the scheduler, under the names that dashboards for Kubernetes know. */

import type { Metrics } from "../base/metrics.ts";
import type { QueuePlace } from "./queue/queued-pod.ts";
import type { SchedulingQueue } from "./queue/scheduling-queue.ts";

export type AttemptResult = "scheduled" | "unschedulable" | "error";

const QUEUES: Readonly<Partial<Record<QueuePlace, string>>> = {
  active: "active",
  backoff: "backoff",
  parked: "unschedulable",
  gated: "gated",
};

export interface SchedulerMetrics {
  attempted(result: AttemptResult): void;
  preempted(victims: number): void;
  queued(queue: SchedulingQueue): void;
}

export function schedulerMetrics(metrics: Metrics): SchedulerMetrics {
  const attempts = metrics.counter({
    name: "scheduler_schedule_attempts_total",
    help: "Attempts to give a pod a node, by result.",
    labels: ["result"],
  });
  const victims = metrics.counter({
    name: "scheduler_preemption_victims_total",
    help: "Pods that were deleted to make room for more important ones.",
  });
  const pending = metrics.gauge({
    name: "scheduler_pending_pods",
    help: "Pods without a node, by the queue they are in.",
    labels: ["queue"],
  });
  const bound = {
    scheduled: attempts.bind({ result: "scheduled" }),
    unschedulable: attempts.bind({ result: "unschedulable" }),
    error: attempts.bind({ result: "error" }),
  };
  return {
    attempted: (result) => bound[result].add(),
    preempted: (count) => victims.add(count),
    queued(queue) {
      for (const [place, name] of Object.entries(QUEUES)) {
        pending.set(queue.count(place as QueuePlace), { queue: name });
      }
    },
  };
}
