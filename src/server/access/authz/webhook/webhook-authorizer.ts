/** Authorizes by a SubjectAccessReview webhook, and caches its answers. A cached answer is synchronous. */
import type { Program } from "../../../../api/cel/program.ts";
import { isJsonObject } from "../../../../api/json/json-object.ts";
import { DecisionCache } from "../../../../base/collections/decision-cache.ts";
import type { EgressReply } from "../../../egress/egress.ts";
import { EgressError } from "../../../egress/egress.ts";
import { askReview } from "../../../egress/review-call.ts";
import type { ReviewCallParts } from "../../../egress/review-call.ts";
import type { WebhookOptions } from "../authorization-options.ts";
import type { AccessAttributes, AccessDecision, Authorizer, HeldRules } from "../authorizer.ts";
import { compileConditions, judgeConditions } from "./access-conditions.ts";
import { accessSpec } from "./access-spec.ts";

const NO_OPINION: AccessDecision = { outcome: "no opinion", reason: "" };

export class WebhookAuthorizer implements Authorizer {
  readonly #options: WebhookOptions;
  readonly #parts: ReviewCallParts;
  readonly #cache = new DecisionCache<AccessDecision>();
  readonly #conditions: readonly Program[];

  /** Throws an Error for an invalid condition. */
  constructor(options: WebhookOptions, parts: ReviewCallParts) {
    this.#options = options;
    this.#parts = parts;
    this.#conditions = compileConditions(options.matchConditions);
  }

  decide(attributes: AccessAttributes): AccessDecision | Promise<AccessDecision> {
    const spec = accessSpec(attributes);
    const met = judgeConditions(this.#conditions, spec);
    if (met.outcome === "failed") return this.#failed(met.why);
    if (met.outcome === "not met") return NO_OPINION;
    const question = JSON.stringify(spec);
    return this.#cache.find(question, this.#parts.loop.now()) ?? this.#ask(question);
  }

  rulesFor(): HeldRules {
    return {
      rules: [],
      isIncomplete: true,
      error: "webhook authorizer does not support user rule resolution",
    };
  }

  async #ask(spec: string): Promise<AccessDecision> {
    const { authorizedTtlMs, unauthorizedTtlMs } = this.#options;
    const { loop } = this.#parts;
    try {
      const decision = decisionIn(await this.#reply(spec));
      const ttlMs = decision.outcome === "allowed" ? authorizedTtlMs : unauthorizedTtlMs;
      if (ttlMs > 0) this.#cache.keep(spec, decision, loop.now() + ttlMs);
      return decision;
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      return this.#failed(error.message);
    }
  }

  #failed(why: string): AccessDecision {
    const { name, onFailure } = this.#options;
    return { outcome: onFailure, reason: "", error: `webhook ${JSON.stringify(name)}: ${why}` };
  }

  #reply(spec: string): Promise<EgressReply> {
    const { version } = this.#options;
    const body = `{"apiVersion":"authorization.k8s.io/${version}","kind":"SubjectAccessReview","metadata":{},"spec":${spec},"status":{"allowed":false}}`;
    return askReview(this.#parts, this.#options, body);
  }
}

function decisionIn({ body }: EgressReply): AccessDecision {
  const status = statusIn(Buffer.from(body).toString());
  const [isAllowed, isDenied] = [status["allowed"] === true, status["denied"] === true];
  if (isAllowed && isDenied)
    throw new EgressError("webhook subject access review returned both allow and deny response");
  const reason = typeof status["reason"] === "string" ? status["reason"] : "";
  return { outcome: isAllowed ? "allowed" : isDenied ? "denied" : "no opinion", reason };
}

function statusIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const review: unknown = JSON.parse(text);
    const status = isJsonObject(review) ? review["status"] : undefined;
    if (isJsonObject(status)) return status;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new EgressError("the response is no SubjectAccessReview");
}
