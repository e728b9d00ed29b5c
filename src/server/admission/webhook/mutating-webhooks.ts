/**
 * MutatingAdmissionWebhook: calls webhooks in sequence; each sees the changes of the previous ones. After a change
 * all plugins run once more. Webhooks with reinvocationPolicy `IfNeeded` are then called again if the object changed
 * after their call.
 */
import { isApiError } from "../../../api/errors/api-error.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { jsonEqual } from "../../../api/patch/json-equal.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import type { Versions } from "../../objects/versions.ts";
import type { AdmissionPlugin, AdmissionRequest, Operation } from "../plugin.ts";
import type { HookChain, HookCall } from "./hook-chain.ts";
import type { HookIndex, HookInvocation } from "./hook-index.ts";
import { patchedObject } from "./patched.ts";
import type { Verdict } from "./verdict.ts";
import { converted } from "./versions.ts";
import type { WebhookMetrics } from "./webhook-metrics.ts";

const NAME = "MutatingAdmissionWebhook";
export const ALL_OPERATIONS: readonly Operation[] = ["CREATE", "UPDATE", "DELETE", "CONNECT"];

/** State between the first round and the reinvocation. */
interface Rounds {
  /** Reinvocable webhooks that were called since the last change of the object. */
  readonly asked: Set<string>;
  /** Reinvocable webhooks after whose call the object changed. */
  readonly outdated: Set<string>;
  /** The object at the end of the round. */
  left: ApiObject | undefined;
}

interface Parts {
  readonly index: HookIndex;
  readonly chain: HookChain;
  readonly versions: Versions;
  readonly metrics: WebhookMetrics;
}

export function mutatingWebhooks(parts: Parts): AdmissionPlugin {
  return {
    name: NAME,
    interests: [{ resources: "all", operations: ALL_OPERATIONS }],
    configuredUnder: parts.index.prefix,
    mayCall: (request) => parts.index.concerning(request).length > 0,
    mutateLater(object, request) {
      const invocations = parts.index.concerning(request);
      return invocations.length === 0 ? undefined : new Round(parts, request).run(invocations, object);
    },
  };
}

class Round {
  readonly #parts: Parts;
  readonly #request: AdmissionRequest;
  readonly #rounds: Rounds;

  constructor(parts: Parts, request: AdmissionRequest) {
    this.#parts = parts;
    this.#request = request;
    this.#rounds = roundsOf(request);
  }

  /** Undefined if the object is unchanged. */
  async run(
    invocations: readonly HookInvocation[],
    object: ApiObject | undefined,
  ): Promise<ApiObject | undefined> {
    const { isReinvocation } = this.#request;
    if (isReinvocation && !jsonEqual(this.#rounds.left, object)) this.#changed();
    let current = object;
    for (const [at, invocation] of invocations.entries()) {
      const question = await this.#parts.chain.question(invocation, current, this.#request);
      if (question === undefined) continue;
      // Only webhooks that the first round called and that missed a change are called again.
      if (isReinvocation && !this.#rounds.outdated.has(invocation.hook.id)) continue;
      const next = await this.#ask(question, at);
      if (next !== undefined) {
        this.#changed();
        current = next;
      }
      if (invocation.hook.isReinvocable) this.#rounds.asked.add(invocation.hook.id);
    }
    this.#rounds.left = current;
    return current === object ? undefined : current;
  }

  /** Marks all webhooks called so far as outdated. */
  #changed(): void {
    const { asked, outdated } = this.#rounds;
    for (const id of asked) outdated.add(id);
    asked.clear();
  }

  /** The object after the webhook's patch, in the version of the request. */
  async #ask(question: HookCall, at: number): Promise<ApiObject | undefined> {
    const { chain } = this.#parts;
    const { hook } = question.invocation;
    const place = `round_${this.#request.isReinvocation ? "1" : "0"}_index_${String(at)}`;
    const reply = await chain.ask(question);
    if (reply.outcome === "refused") throw reply.error;
    if (reply.outcome === "open") {
      this.#request.notes.annotate(`failed-open.mutation.webhook.admission.k8s.io/${place}`, hook.name);
      return undefined;
    }
    chain.note(reply.verdict, this.#request);
    if (reply.verdict.denial !== undefined) throw reply.verdict.denial;
    const next = await this.#patched(question, reply.verdict);
    const { configuration, name: webhook } = hook;
    const told = JSON.stringify({ configuration, webhook, mutated: next !== undefined });
    this.#request.notes.annotate(`mutation.webhook.admission.k8s.io/${place}`, told);
    return next;
  }

  async #patched({ invocation, subject }: HookCall, { patch }: Verdict): Promise<ApiObject | undefined> {
    if (patch === undefined) return undefined;
    const { hook, resource } = invocation;
    const { metrics, versions } = this.#parts;
    const request = this.#request;
    try {
      const patched = patchedObject(subject.object, { hook, resource, patch });
      if (patched === undefined) return undefined;
      const next = request.owners?.areTracked === true ? withoutOwners(patched) : patched;
      return await converted(next, { from: resource, to: request.resource }, versions);
    } catch (error) {
      if (isApiError(error)) metrics.rejected({ hook, request }, "apiserver_internal_error", 0);
      throw error;
    }
  }
}

/** Drops managedFields; the server computes them again when it stores the object. */
function withoutOwners(object: ApiObject): ApiObject {
  const { managedFields: _fields, ...metadata } = object.metadata as JsonObject;
  return { ...object, metadata } as ApiObject;
}

function roundsOf({ isReinvocation, scratch }: AdmissionRequest): Rounds {
  const known = isReinvocation ? (scratch.get(NAME) as Rounds | undefined) : undefined;
  const rounds = known ?? { asked: new Set(), outdated: new Set(), left: undefined };
  scratch.set(NAME, rounds);
  return rounds;
}
