/** Reports why a pod has no node: in an event, and in its status if the reason changed. */

import { isApiError } from "../api/errors/api-error.ts";
import { Pod } from "../api/generated/types/core-v1.ts";
import type { RoutineParts } from "../runtime/manager/routine.ts";
import { withCause } from "../runtime/manager/stated-cause.ts";
import type { InFlightWrites } from "./in-flight-writes.ts";
import { planReport, type PodReport } from "./pod-status-patch.ts";
import type { PodInfo } from "./snapshot/pod-info.ts";

/** Last report about a pod. */
interface LastReport {
  readonly uid: string;
  /** Last text written to the status; the caches may not show it yet. */
  readonly written: string | undefined;
}

export class PodReporter {
  readonly #parts: RoutineParts;
  readonly #writes: InFlightWrites;
  readonly #signal: AbortSignal;
  /** Last reports by pod key, for unscheduled pods. */
  readonly #lastReports = new Map<string, LastReport>();

  constructor(parts: RoutineParts, writes: InFlightWrites, signal: AbortSignal) {
    this.#parts = parts;
    this.#writes = writes;
    this.#signal = signal;
  }

  forget(key: string): void {
    this.#lastReports.delete(key);
  }

  report({ key, pod, uid, schedulerName: reporter }: PodInfo, report: PodReport): void {
    const { message } = report;
    this.#parts.event(pod, {
      type: "Warning",
      reason: "FailedScheduling",
      action: "Scheduling",
      message,
      reporter,
    });
    const now = this.#parts.loop.now();
    const known = this.#lastReports.get(key);
    const last = known?.uid === uid ? known : undefined;
    const text = `${report.reason} ${report.nominatedNodeName ?? ""} ${message}`;
    const patch = planReport(pod, report, now);
    const isWritten = patch === undefined || last?.written === text;
    this.#lastReports.set(key, { uid, written: text });
    if (isWritten) return;
    const note = "fits no node";
    const pods = withCause(this.#parts.client, { loop: "kube-scheduler", type: Pod, object: pod, note })(Pod);
    const written = this.#writes.run(() => pods.patch(pod, patch, { subresource: "status" }));
    written.catch((error: unknown) => this.#failed(key, text, error));
  }

  #failed(key: string, text: string, error: unknown): void {
    const last = this.#lastReports.get(key);
    if (last?.written === text) this.#lastReports.set(key, { ...last, written: undefined });
    if (this.#signal.aborted || isApiError(error, "NotFound") || isApiError(error, "Conflict")) return;
    this.#parts.log.warn("cannot write a pod's status", { pod: key, error });
  }
}
