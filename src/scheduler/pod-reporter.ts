/** Says why a pod has no node: in an event, and in its status when that says something else so far. */

import { isApiError } from "../api/errors/api-error.ts";
import { Pod } from "../api/generated/types/core-v1.ts";
import type { RoutineParts } from "../runtime/manager/routine.ts";
import type { InFlightWrites } from "./in-flight-writes.ts";
import { planReport, type PodReport } from "./pod-status.ts";
import type { PodInfo } from "./snapshot/pod-info.ts";

/** What was last said about a pod. */
interface Said {
  readonly uid: string;
  /** Of the status; may not be shown by the caches yet. */
  readonly written: string | undefined;
}

export class PodReporter {
  readonly #parts: RoutineParts;
  readonly #writes: InFlightWrites;
  readonly #signal: AbortSignal;
  /** By key, for pods that wait. */
  readonly #said = new Map<string, Said>();

  constructor(parts: RoutineParts, writes: InFlightWrites, signal: AbortSignal) {
    this.#parts = parts;
    this.#writes = writes;
    this.#signal = signal;
  }

  forget(key: string): void {
    this.#said.delete(key);
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
    const known = this.#said.get(key);
    const said = known?.uid === uid ? known : undefined;
    const text = `${report.reason} ${report.nominatedNodeName ?? ""} ${message}`;
    const patch = planReport(pod, report, now);
    const isWritten = patch === undefined || said?.written === text;
    this.#said.set(key, { uid, written: text });
    if (isWritten) return;
    const pods = this.#parts.client(Pod);
    const written = this.#writes.run(() => pods.patch(pod, patch, { subresource: "status" }));
    written.catch((error: unknown) => this.#failed(key, text, error));
  }

  #failed(key: string, text: string, error: unknown): void {
    const said = this.#said.get(key);
    if (said?.written === text) this.#said.set(key, { ...said, written: undefined });
    if (this.#signal.aborted || isApiError(error, "NotFound") || isApiError(error, "Conflict")) return;
    this.#parts.log.warn("a pod's status could not be written", { pod: key, error });
  }
}
