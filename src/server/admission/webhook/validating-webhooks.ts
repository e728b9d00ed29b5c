/**
 * ValidatingAdmissionWebhook: calls all webhooks in parallel with the object as it will be stored. If several refuse,
 * the first in call order counts.
 */
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../plugin.ts";
import type { HookChain, HookCall, HookReply } from "./hook-chain.ts";
import type { HookIndex, HookInvocation } from "./hook-index.ts";
import { ALL_OPERATIONS } from "./mutating-webhooks.ts";

const OPEN = "failed-open.validating.webhook.admission.k8s.io";

export function validatingWebhooks(index: HookIndex, chain: HookChain): AdmissionPlugin {
  return {
    name: "ValidatingAdmissionWebhook",
    interests: [{ resources: "all", operations: ALL_OPERATIONS }],
    configuredUnder: index.prefix,
    mayCall: (request) => index.concerning(request).length > 0,
    validateLater(object, request) {
      const invocations = index.concerning(request);
      return invocations.length === 0 ? undefined : judge(invocations, { object, request, chain });
    },
  };
}

interface Case {
  readonly object: ApiObject | undefined;
  readonly request: AdmissionRequest;
  readonly chain: HookChain;
}

async function judge(
  invocations: readonly HookInvocation[],
  { object, request, chain }: Case,
): Promise<void> {
  const questions: HookCall[] = [];
  for (const invocation of invocations) {
    const question = await chain.question(invocation, object, request);
    if (question !== undefined) questions.push(question);
  }
  const replies = await Promise.all(questions.map((question) => chain.ask(question)));
  let refusal: Error | undefined;
  for (const [at, reply] of replies.entries()) {
    if (reply.outcome === "answered") chain.note(reply.verdict, request);
    if (reply.outcome === "open")
      request.notes.annotate(
        `${OPEN}/round_0_index_${String(at)}`,
        questions[at]?.invocation.hook.name ?? "",
      );
    refusal ??= refusalIn(reply);
  }
  if (refusal !== undefined) throw refusal;
}

function refusalIn(reply: HookReply): Error | undefined {
  if (reply.outcome === "answered") return reply.verdict.denial;
  return reply.outcome === "refused" ? reply.error : undefined;
}
