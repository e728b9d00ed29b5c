/** Counts webhook calls in metrics with upstream's names. */
import type { Metrics } from "../../../base/metrics/metrics.ts";
import type { AdmissionRequest } from "../plugin.ts";
import type { Hook, HookType } from "./hook.ts";

/** Upper bound of the label `name`. Configurations come and go; further names are counted as `others`. */
const NAMES_MAX = 1000;

/** Upstream's buckets, in seconds. */
const BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25];

const TYPES: Readonly<Record<HookType, string>> = { mutating: "admit", validating: "validating" };

export type RejectionCause = "calling_webhook_error" | "apiserver_internal_error" | "no_error";

export interface Asking {
  readonly hook: Hook;
  readonly request: AdmissionRequest;
}

export class WebhookMetrics {
  readonly #names = new Set<string>();
  readonly #durations;
  readonly #requests;
  readonly #rejections;
  readonly #openings;
  readonly #exclusions;
  readonly #errors;

  constructor(metrics: Metrics) {
    const base = ["name", "type", "operation"];
    this.#durations = metrics.histogram({
      name: "apiserver_admission_webhook_admission_duration_seconds",
      help: "Admission webhook latency histogram in seconds, identified by name and broken out for each operation and API resource and type (validate or admit).",
      labels: [...base, "rejected"],
      buckets: BUCKETS,
    });
    this.#requests = metrics.counter({
      name: "apiserver_admission_webhook_request_total",
      help: "Admission webhook request total, identified by name and broken out for each admission type and operation, with the code of the answer and whether it was rejected.",
      labels: [...base, "code", "rejected"],
    });
    this.#rejections = metrics.counter({
      name: "apiserver_admission_webhook_rejection_count",
      help: "Admission webhook rejection count, identified by name and broken out for each admission type and operation, with the cause and the code of the rejection.",
      labels: [...base, "error_type", "rejection_code"],
    });
    this.#openings = metrics.counter({
      name: "apiserver_admission_webhook_fail_open_count",
      help: "Admission webhook fail open count, identified by name and broken out for each admission type.",
      labels: ["name", "type"],
    });
    this.#exclusions = metrics.counter({
      name: "apiserver_admission_match_condition_exclusions_total",
      help: "Admission match condition evaluation exclusions count, identified by name and broken out for each kind and operation.",
      labels: ["name", "kind", "type", "operation"],
    });
    this.#errors = metrics.counter({
      name: "apiserver_admission_match_condition_evaluation_errors_total",
      help: "Admission match condition evaluation errors count, identified by name and broken out for each kind and operation.",
      labels: ["name", "kind", "type", "operation"],
    });
  }

  /** A code of 0 means that the webhook allowed the request. */
  asked(asking: Asking, { seconds, code, isRejected }: Outcome): void {
    const labels = { ...this.#labels(asking), rejected: String(isRejected) };
    this.#durations.observe(seconds, labels);
    this.#requests.add(1, { ...labels, code: String(code === 0 ? 200 : Math.min(code, 600)) });
  }

  rejected(asking: Asking, cause: RejectionCause, code: number): void {
    const rejection_code = String(Math.min(code, 600));
    this.#rejections.add(1, { ...this.#labels(asking), error_type: cause, rejection_code });
  }

  failedOpen({ hook }: Asking): void {
    this.#openings.add(1, { name: this.#nameOf(hook), type: TYPES[hook.type] });
  }

  excluded(asking: Asking): void {
    this.#exclusions.add(1, { ...this.#labels(asking), kind: "webhook" });
  }

  conditionFailed(asking: Asking): void {
    this.#errors.add(1, { ...this.#labels(asking), kind: "webhook" });
  }

  #labels({ hook, request }: Asking): { name: string; type: string; operation: string } {
    return { name: this.#nameOf(hook), type: TYPES[hook.type], operation: request.operation };
  }

  #nameOf({ name }: Hook): string {
    if (this.#names.size < NAMES_MAX) this.#names.add(name);
    return this.#names.has(name) ? name : "others";
  }
}

interface Outcome {
  readonly seconds: number;
  readonly code: number;
  readonly isRejected: boolean;
}
