/**
 * The audit log of a server: applies the policy and hands events to the sinks. Opened before the first request, closed
 * after the last.
 */
import { errorText } from "../../../base/error-text.ts";
import { checkAppendable } from "../../../base/log-files/rotating-file.ts";
import type { Log } from "../../../base/log/log.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import type { BoundCounter, Counter, Metrics } from "../../../base/metrics/metrics.ts";
import { readFileBytes } from "../../../base/process/read-named-file.ts";
import type { Egress } from "../../egress/egress.ts";
import { logSink } from "./log-sink.ts";
import type { LogSinkOptions } from "./log-sink.ts";
import { parsePolicy } from "./policy-file.ts";
import { policyDecider } from "./policy.ts";
import type { AuditDecision, AuditedRequest, AuditPolicy } from "./policy.ts";
import type { AuditSink, SinkSurroundings } from "./sink.ts";
import { webhookSink } from "./webhook-sink.ts";
import type { WebhookEndpoint } from "./webhook-sink.ts";

export interface AuditOptions {
  /** Absolute path. */
  readonly policyFile: string;
  /** Log file. At least one of `log` and `webhook` is set. */
  readonly log?: LogSinkOptions | undefined;
  readonly webhook?: WebhookEndpoint | undefined;
}

export interface AuditSurroundings {
  readonly loop: Loop;
  readonly log: Log;
  readonly metrics: Metrics;
}

export class AuditTrail {
  readonly #decide: (request: AuditedRequest) => AuditDecision;
  readonly #options: AuditOptions;
  readonly #surroundings: AuditSurroundings;
  readonly #sinks: AuditSink[] = [];
  readonly #written: BoundCounter;
  readonly #levels: Counter;
  readonly #lost: Counter;

  constructor(policy: AuditPolicy, options: AuditOptions, surroundings: AuditSurroundings) {
    const { metrics } = surroundings;
    this.#decide = policyDecider(policy);
    this.#options = options;
    this.#surroundings = surroundings;
    this.#written = metrics
      .counter({ name: "apiserver_audit_event_total", help: "Audit events generated." })
      .bind({});
    this.#levels = metrics.counter({
      name: "apiserver_audit_level_total",
      help: "Requests by the level at which they are audited.",
      labels: ["level"],
    });
    this.#lost = metrics.counter({
      name: "apiserver_audit_error_total",
      help: "Audit events lost, by sink.",
      labels: ["plugin"],
    });
    if (options.log !== undefined) this.#sinks.push(logSink(options.log, this.#around("log")));
  }

  /** Adds the webhook sink, which needs `egress`. */
  connect(egress: Egress): void {
    const { webhook } = this.#options;
    if (webhook !== undefined) this.#sinks.push(webhookSink(webhook, egress, this.#around("webhook")));
  }

  decide(request: AuditedRequest): AuditDecision {
    const decision = this.#decide(request);
    this.#levels.add(1, { level: decision.level });
    return decision;
  }

  write(event: string): void {
    this.#written.add();
    for (const sink of this.#sinks) sink.offer(event);
  }

  /** Resolves when every event is delivered or lost. */
  async close(): Promise<void> {
    await Promise.all(this.#sinks.map((sink) => sink.close()));
  }

  #around(plugin: string): SinkSurroundings {
    const { loop, log } = this.#surroundings;
    return { loop, log, lost: this.#lost.bind({ plugin }) };
  }
}

/** Undefined without a policy. Rejects when the policy is invalid or its log is not writable. */
export async function openAudit(
  options: AuditOptions | undefined,
  surroundings: AuditSurroundings,
): Promise<AuditTrail | undefined> {
  if (options === undefined) return undefined;
  const { policyFile, log } = options;
  const bytes = await surroundings.loop.outside("file", readFileBytes(policyFile));
  const policy = policyOf(bytes, policyFile);
  if (log !== undefined && log.path !== "-")
    await surroundings.loop.outside("file", checkAppendable(log.path));
  return new AuditTrail(policy, options, surroundings);
}

function policyOf(bytes: Uint8Array, file: string): AuditPolicy {
  try {
    return parsePolicy(bytes);
  } catch (error) {
    const why = errorText(error);
    throw new Error(`${file} is no audit policy: ${why}`, { cause: error });
  }
}
