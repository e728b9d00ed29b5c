/** Figures about the scheduler, under the names that dashboards for Kubernetes know. */

import type { BoundCounter, BoundHistogram, Metrics } from "../base/metrics.ts";
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
  /** Until the pod had a node, or was found to get none. */
  attempted(result: AttemptResult, ms: number): void;
  /** How many attempts it took, and how long since the first of them. */
  scheduled(attempts: number, ms: number): void;
  preempted(victims: number): void;
  queued(queue: SchedulingQueue): void;
}

interface BoundAttempts {
  readonly count: BoundCounter;
  readonly duration: BoundHistogram;
}

/** As upstream has them: doubled fifteen, and twenty times. */
const ATTEMPT_SECONDS = Array.from({ length: 15 }, (_, at) => 0.001 * 2 ** at);
const WAIT_SECONDS = Array.from({ length: 20 }, (_, at) => 0.01 * 2 ** at);
/** The label has a bound, as upstream's. */
const ATTEMPTS_MAX = 15;

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
  const durations = metrics.histogram({
    name: "scheduler_scheduling_attempt_duration_seconds",
    help: "How long an attempt to give a pod a node takes, with its binding.",
    labels: ["result"],
    buckets: ATTEMPT_SECONDS,
  });
  const waits = metrics.histogram({
    name: "scheduler_pod_scheduling_sli_duration_seconds",
    help: "How long it takes from the first attempt until a pod has a node, by the number of attempts.",
    labels: ["attempts"],
    buckets: WAIT_SECONDS,
  });
  const bind = (result: AttemptResult): BoundAttempts => ({
    count: attempts.bind({ result }),
    duration: durations.bind({ result }),
  });
  const bound = {
    scheduled: bind("scheduled"),
    unschedulable: bind("unschedulable"),
    error: bind("error"),
  };
  // Most pods get a node at once: nothing is looked up for them.
  const atOnce = waits.bind({ attempts: "1" });
  return {
    attempted(result, ms) {
      const { count, duration } = bound[result];
      count.add();
      duration.observe(ms / 1000);
    },
    scheduled(tries, ms) {
      if (tries === 1) atOnce.observe(ms / 1000);
      else
        waits.observe(ms / 1000, {
          attempts: tries < ATTEMPTS_MAX ? String(tries) : `${String(ATTEMPTS_MAX)}+`,
        });
    },
    preempted: (count) => victims.add(count),
    queued(queue) {
      for (const [place, name] of Object.entries(QUEUES)) {
        pending.set(queue.count(place as QueuePlace), { queue: name });
      }
    },
  };
}
