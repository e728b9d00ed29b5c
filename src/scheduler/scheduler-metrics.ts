/** Metrics of the scheduler under upstream's names, so that existing dashboards work. */

import type { BoundCounter, BoundHistogram, Metrics } from "../base/metrics/metrics.ts";
import type { QueuePlace } from "./queue/queued-pod.ts";
import type { SchedulingQueue } from "./queue/scheduling-queue.ts";

export type AttemptResult = "scheduled" | "unschedulable" | "error";

const QUEUES: Readonly<Partial<Record<QueuePlace, string>>> = {
  active: "active",
  backoff: "backoff",
  unschedulable: "unschedulable",
  gated: "gated",
};

export interface SchedulerMetrics {
  /** Records an attempt: until the pod was bound or found unschedulable. */
  attempted(result: AttemptResult, ms: number, profile: string): void;
  /** Records the time to choose a node, without writes. */
  decided(ms: number): void;
  /** Counts a search for preemption victims. */
  triedPreemption(): void;
  /** Records the number of attempts and the time since the first one. */
  scheduled(attempts: number, ms: number): void;
  preempted(victims: number): void;
  queued(queue: SchedulingQueue): void;
}

interface BoundAttempts {
  readonly count: BoundCounter;
  readonly duration: BoundHistogram;
}

/** Upstream's buckets: 15 and 20 doublings. */
const ATTEMPT_SECONDS = Array.from({ length: 15 }, (_, at) => 0.001 * 2 ** at);
const WAIT_SECONDS = Array.from({ length: 20 }, (_, at) => 0.01 * 2 ** at);
const ATTEMPTS = [1, 2, 4, 8, 16];
const VICTIMS = [1, 2, 4, 8, 16, 32, 64];
/** Greatest value of the label `attempts`, as upstream's; bounds the number of series. */
const ATTEMPTS_MAX = 15;

export function schedulerMetrics(metrics: Metrics): SchedulerMetrics {
  const pending = metrics.gauge({
    name: "scheduler_pending_pods",
    help: "Pods without a node, by queue.",
    labels: ["queue"],
  });
  const decisions = metrics
    .histogram({
      name: "scheduler_scheduling_algorithm_duration_seconds",
      help: "Time to choose a node for a pod, without its binding.",
      buckets: ATTEMPT_SECONDS,
    })
    .bind({});
  return {
    ...attemptMetrics(metrics),
    ...successMetrics(metrics),
    ...preemptionMetrics(metrics),
    decided: (ms) => decisions.observe(ms / 1000),
    queued(queue) {
      for (const [place, name] of Object.entries(QUEUES)) {
        pending.set(queue.count(place as QueuePlace), { queue: name });
      }
    },
  };
}

function attemptMetrics(metrics: Metrics): Pick<SchedulerMetrics, "attempted"> {
  const labels = ["result", "profile"];
  const attempts = metrics.counter({
    name: "scheduler_schedule_attempts_total",
    help: "Attempts to schedule a pod, by result.",
    labels,
  });
  const durations = metrics.histogram({
    name: "scheduler_scheduling_attempt_duration_seconds",
    help: "Duration of an attempt to schedule a pod, with its binding.",
    labels,
    buckets: ATTEMPT_SECONDS,
  });
  const bind = (result: AttemptResult, profile: string): BoundAttempts => ({
    count: attempts.bind({ result, profile }),
    duration: durations.bind({ result, profile }),
  });
  const bindAll = (profile: string): Readonly<Record<AttemptResult, BoundAttempts>> => ({
    scheduled: bind("scheduled", profile),
    unschedulable: bind("unschedulable", profile),
    error: bind("error", profile),
  });
  /** One entry per profile: other pods are not scheduled here. */
  const profiles = new Map<string, ReturnType<typeof bindAll>>();
  return {
    attempted(result, ms, profile) {
      const bound = profiles.get(profile) ?? bindAll(profile);
      profiles.set(profile, bound);
      const { count, duration } = bound[result];
      count.add();
      duration.observe(ms / 1000);
    },
  };
}

function successMetrics(metrics: Metrics): Pick<SchedulerMetrics, "scheduled"> {
  const attempts = metrics
    .histogram({
      name: "scheduler_pod_scheduling_attempts",
      help: "Attempts until a pod was scheduled.",
      buckets: ATTEMPTS,
    })
    .bind({});
  const waits = metrics.histogram({
    name: "scheduler_pod_scheduling_sli_duration_seconds",
    help: "Time from the first attempt until a pod was scheduled, by the number of attempts.",
    labels: ["attempts"],
    buckets: WAIT_SECONDS,
  });
  // Most pods are scheduled at the first attempt: their series is bound in advance.
  const atOnce = waits.bind({ attempts: "1" });
  return {
    scheduled(tries, ms) {
      attempts.observe(tries);
      if (tries === 1) return atOnce.observe(ms / 1000);
      const label = tries < ATTEMPTS_MAX ? String(tries) : `${String(ATTEMPTS_MAX)}+`;
      waits.observe(ms / 1000, { attempts: label });
    },
  };
}

function preemptionMetrics(metrics: Metrics): Pick<SchedulerMetrics, "preempted" | "triedPreemption"> {
  const victims = metrics.histogram({
    name: "scheduler_preemption_victims",
    help: "Pods deleted at a time to make room for a more important one.",
    buckets: VICTIMS,
  });
  const attempts = metrics
    .counter({
      name: "scheduler_preemption_attempts_total",
      help: "Searches for pods that could make room for a more important one.",
    })
    .bind({});
  return { triedPreemption: () => attempts.add(), preempted: (count) => victims.observe(count) };
}
