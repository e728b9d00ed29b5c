/**
 * Shared by mutating and validating webhooks: select webhooks for a request, call them, count calls, apply failure
 * policies.
 */
import { internalError, timeout } from "../../../api/errors/api-error.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import type { Egress } from "../../egress/egress.ts";
import type { Versions } from "../../objects/versions.ts";
import type { AdmissionRequest } from "../plugin.ts";
import { askHook, HookFailure } from "./hook-call.ts";
import type { HookInvocation } from "./hook-index.ts";
import { conditionsOutcome, isSelected, undecided } from "./hook-match.ts";
import type { DeciderFor } from "./hook-match.ts";
import type { Hook } from "./hook.ts";
import type { ReviewSubject } from "./review.ts";
import type { Verdict } from "./verdict.ts";
import { converted } from "./versions.ts";
import type { Asking, WebhookMetrics } from "./webhook-metrics.ts";

/** Deadline of a request, shared by all its webhooks. */
const REQUEST_MS_MAX = 60_000;
const DEADLINE = "WebhookDeadline";

export interface ChainParts {
  readonly loop: Loop;
  readonly egress: Egress;
  readonly versions: Versions;
  readonly metrics: WebhookMetrics;
  readonly deciderFor: DeciderFor;
}

/** A webhook to call, and the request it is called with. */
export interface HookCall {
  readonly invocation: HookInvocation;
  readonly subject: ReviewSubject;
}

/** Result of a call. `open` means that the call failed and the failure policy is Ignore. */
export type HookReply =
  | { readonly outcome: "answered"; readonly verdict: Verdict }
  | { readonly outcome: "open" }
  /** Error for the client. */
  | { readonly outcome: "refused"; readonly error: Error };

export class HookChain {
  readonly #parts: ChainParts;

  constructor(parts: ChainParts) {
    this.#parts = parts;
  }

  /** Undefined if the webhook is not called for this object. Rejects if that cannot be decided. */
  async question(
    invocation: HookInvocation,
    object: ApiObject | undefined,
    request: AdmissionRequest,
  ): Promise<HookCall | undefined> {
    const { hook } = invocation;
    if (!isSelected(hook, object, request)) return undefined;
    const subject = await this.#subject(invocation, object, request);
    return this.#isExcluded(hook, subject) ? undefined : { invocation, subject };
  }

  async ask({ invocation, subject }: HookCall): Promise<HookReply> {
    const { hook } = invocation;
    const { loop, metrics } = this.#parts;
    const { request } = subject;
    const startedAt = loop.elapsed();
    const count = (code: number, isRejected: boolean): void =>
      metrics.asked({ hook, request }, { seconds: (loop.elapsed() - startedAt) / 1000, code, isRejected });
    try {
      const verdict = await askHook(hook, { subject, leftMs: this.#leftMs(request) }, this.#parts);
      count(verdict.denial?.code ?? 0, verdict.denial !== undefined);
      if (verdict.denial !== undefined) metrics.rejected({ hook, request }, "no_error", verdict.denial.code);
      return { outcome: "answered", verdict };
    } catch (error) {
      if (!(error instanceof HookFailure)) throw error;
      const isIgnored = hook.failurePolicy === "Ignore";
      count(error.code, !isIgnored);
      return isIgnored ? this.#open({ hook, request }) : this.#closed({ hook, request }, error);
    }
  }

  #closed(asking: Asking, failure: HookFailure): HookReply {
    this.#parts.metrics.rejected(asking, "calling_webhook_error", failure.code);
    return { outcome: "refused", error: internalError(failure) };
  }

  /** A request past its deadline, or without a client, fails even under Ignore. */
  #open(asking: Asking): HookReply {
    this.#parts.metrics.failedOpen(asking);
    const isAwaited = this.#leftMs(asking.request) > 0 && asking.request.notes.signal?.aborted !== true;
    if (isAwaited) return { outcome: "open" };
    return { outcome: "refused", error: timeout("request did not complete within requested timeout", 0) };
  }

  /** Adds warnings for the client and annotations for the audit log. */
  note(verdict: Verdict, { notes }: AdmissionRequest): void {
    for (const warning of verdict.warnings) notes.warn(warning);
    for (const [key, value] of verdict.annotations) notes.annotate(key, value);
  }

  /** Converts the objects to the version in which the webhook is called. */
  async #subject(
    { resource }: HookInvocation,
    given: ApiObject | undefined,
    request: AdmissionRequest,
  ): Promise<ReviewSubject> {
    const object = given === undefined ? undefined : (request.owners?.shown(given) ?? given);
    const { versions } = this.#parts;
    const change = { from: request.resource, to: resource };
    if (change.from === change.to) return { request, resource, object, oldObject: request.previous };
    const to = async (each: ApiObject | undefined): Promise<ApiObject | undefined> =>
      each === undefined ? undefined : converted(each, change, versions);
    return { request, resource, object: await to(object), oldObject: await to(request.previous) };
  }

  #isExcluded(hook: Hook, subject: ReviewSubject): boolean {
    const { metrics, deciderFor } = this.#parts;
    const { request } = subject;
    const found = conditionsOutcome(hook, subject, deciderFor);
    if (found.outcome === "failed") {
      metrics.conditionFailed({ hook, request });
      throw undecided(request, found.why);
    }
    if (found.outcome === "excluded") metrics.excluded({ hook, request });
    return found.outcome === "excluded";
  }

  /** The deadline starts with the first webhook of a request. */
  #leftMs({ scratch }: AdmissionRequest): number {
    const now = this.#parts.loop.elapsed();
    const known = scratch.get(DEADLINE);
    const deadline = typeof known === "number" ? known : now + REQUEST_MS_MAX;
    scratch.set(DEADLINE, deadline);
    return deadline - now;
  }
}
