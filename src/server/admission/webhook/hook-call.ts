/** Calls one webhook with one request. */
import { badRequest } from "../../../api/errors/api-error.ts";
import { parseJson } from "../../../api/json/json-scan.ts";
import { stringifyJson } from "../../../api/json/json-text.ts";
import { quoted } from "../../../api/values/message-text.ts";
import { errorText } from "../../../base/error-text.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import { EgressError } from "../../egress/egress.ts";
import type { Egress, EgressReply, EgressRequest } from "../../egress/egress.ts";
import type { Hook } from "./hook.ts";
import { replyErrorText } from "./reply-error.ts";
import { reviewOf } from "./review.ts";
import type { ReviewSubject } from "./review.ts";
import { BadPatch, BadVerdict, verdictOf } from "./verdict.ts";
import type { Verdict } from "./verdict.ts";

/** Upper bound of a response, which holds at most a patch of an object. */
const REPLY_BYTES_MAX = 3 * 1024 * 1024;

const HEADERS = {
  accept: "application/json, */*",
  "content-type": "application/json",
  "user-agent": "kube-apiserver-admission",
};

/** The webhook could not be called, or its response is unusable. Its failure policy decides about the request. */
export class HookFailure extends Error {
  override readonly name = "HookFailure";
  /** Status code of the failure, for metrics. */
  readonly code: number;

  constructor(hook: Hook, why: string, code: number) {
    super(`failed calling webhook ${quoted(hook.name)}: ${why}`);
    this.code = code;
  }
}

export interface CallParts {
  readonly loop: Loop;
  readonly egress: Egress;
}

/**
 * Rejects with HookFailure, or with an ApiError if the webhook does not support dry run. `leftMs` is the remaining
 * time of the request.
 */
export async function askHook(
  hook: Hook,
  { subject, leftMs }: { readonly subject: ReviewSubject; readonly leftMs: number },
  { loop, egress }: CallParts,
): Promise<Verdict> {
  const { reviewVersion: version } = hook;
  if (subject.request.isDryRun && !hook.bearsDryRun)
    throw badRequest(`admission webhook ${quoted(hook.name)} does not support dry run`);
  if (version === undefined)
    throw new HookFailure(
      hook,
      "could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)",
      400,
    );
  const uid = loop.random("admission-reviews").uuid();
  const body = Buffer.from(stringifyJson(reviewOf(subject, uid, version)));
  const timeoutMs = Math.max(1, Math.min(hook.timeoutMs, leftMs));
  const { signal = NEVER } = subject.request.notes;
  const reply = await post(hook, { body, timeoutMs, signal }, egress);
  const review = reviewIn(hook, reply);
  try {
    return verdictOf(review, { hook, version, uid });
  } catch (error) {
    if (!(error instanceof BadVerdict)) throw error;
    const what = error instanceof BadPatch ? "undecodable patch in" : "invalid";
    throw new HookFailure(hook, `received ${what} webhook response: ${error.message}`, 503);
  }
}

/** Signal for requests without a client connection, for example the server's own. */
const NEVER = new AbortController().signal;

async function post(
  hook: Hook,
  { body, timeoutMs, signal }: Pick<EgressRequest, "timeoutMs" | "signal"> & { readonly body: Uint8Array },
  egress: Egress,
): Promise<EgressReply> {
  try {
    return await egress.call({
      target: hook.target,
      trust: hook.trust,
      method: "POST",
      path: `?timeout=${String(Math.ceil(timeoutMs / 1000))}s`,
      headers: HEADERS,
      body,
      timeoutMs,
      replyBytesMax: REPLY_BYTES_MAX,
      signal,
      // The server retries writes after conflicts, so webhooks must accept repeated calls.
      isRepeatable: true,
    });
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    throw new HookFailure(hook, `failed to call webhook: ${error.message}`, 503);
  }
}

function reviewIn(hook: Hook, reply: EgressReply): unknown {
  const problem = replyErrorText(reply);
  if (problem !== undefined) throw new HookFailure(hook, `failed to call webhook: ${problem}`, reply.status);
  try {
    return parseJson(reply.body).value;
  } catch (error) {
    const why = errorText(error);
    throw new HookFailure(hook, `failed to call webhook: ${why}`, 503);
  }
}
