/** Authenticates tokens by a TokenReview webhook, and caches its answers. */
import { createHmac } from "node:crypto";
import { isJsonObject } from "../../../api/json/json-object.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { DecisionCache } from "../../../base/collections/decision-cache.ts";
import { EgressError } from "../../egress/egress.ts";
import { askReview } from "../../egress/review-call.ts";
import type { ReviewCallParts, ReviewServer } from "../../egress/review-call.ts";
import type { RequestNotes } from "../../request/request-notes.ts";
import type { User } from "../../request/user.ts";
import type { TokenAuthenticator, TokenFinding } from "./authenticator.ts";
import { commonAudiences } from "./jwt.ts";
import type { VerificationGate } from "./verification-gate.ts";

export interface TokenWebhookOptions extends ReviewServer {
  readonly version: "v1" | "v1beta1";
  /** Lifetime of a cached answer in milliseconds; 0 disables the cache. */
  readonly ttlMs: number;
}

interface Parts extends ReviewCallParts {
  readonly gate: VerificationGate;
  /** Audiences of a token whose review names none. */
  readonly audiences: readonly string[];
  /** Secret key of the digests that are the cache keys. */
  readonly key: Uint8Array;
}

const AUTHENTICATED = "system:authenticated";

/** Bound of the cache for unknown tokens, which is separate so that they never evict known ones. */
const UNKNOWN_MAX = 1024;

/** Result of a review; undefined if the webhook does not know the token and gives no reason. */
interface Found {
  readonly finding: TokenFinding | undefined;
}

export function webhookTokens(options: TokenWebhookOptions, parts: Parts): TokenAuthenticator {
  const known = new DecisionCache<Found>();
  const unknown = new DecisionCache<Found>(UNKNOWN_MAX);
  /** Reviews in flight, bounded by the gate. */
  const asking = new Map<string, Promise<Found["finding"]>>();
  const digestOf = (token: string, audiences: readonly string[]): string =>
    createHmac("sha256", parts.key)
      .update(JSON.stringify([token, audiences]))
      .digest("base64");

  async function ask(question: string, { notes, ...asked }: Asked): Promise<Found["finding"]> {
    const { audiences } = asked;
    try {
      const status = await parts.gate.run(notes, () => review(options, parts, asked));
      const found = { finding: findingOf(status, audiences, parts.audiences) };
      // As upstream, errors are not cached.
      const isError = found.finding?.type === "refused";
      const cache = found.finding === undefined ? unknown : known;
      if (options.ttlMs > 0 && !isError) cache.keep(question, found, parts.loop.now() + options.ttlMs);
      return found.finding;
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      return { type: "refused", reason: error.message };
    }
  }

  /** As upstream, concurrent requests with one token share one review. */
  function askOnce(question: string, asked: Asked): Promise<Found["finding"]> {
    const answer = asking.get(question) ?? ask(question, asked).finally(() => asking.delete(question));
    asking.set(question, answer);
    return answer;
  }

  return {
    find(token, audiences, notes) {
      const question = digestOf(token, audiences);
      const now = parts.loop.now();
      const kept = known.find(question, now) ?? unknown.find(question, now);
      return kept === undefined ? askOnce(question, { token, audiences, notes }) : kept.finding;
    },
  };
}

interface Asked {
  readonly token: string;
  readonly audiences: readonly string[];
  readonly notes: RequestNotes | undefined;
}

async function review(
  options: TokenWebhookOptions,
  parts: ReviewCallParts,
  spec: { readonly token: string; readonly audiences: readonly string[] },
): Promise<JsonObject> {
  const body = JSON.stringify({
    kind: "TokenReview",
    apiVersion: `authentication.k8s.io/${options.version}`,
    metadata: {},
    spec,
    status: { user: {} },
  });
  const reply = await askReview(parts, options, body);
  const status = statusIn(Buffer.from(reply.body).toString());
  if (status === undefined) throw new EgressError("the response is no TokenReview");
  return status;
}

function statusIn(text: string): JsonObject | undefined {
  try {
    const answer: unknown = JSON.parse(text);
    const status = isJsonObject(answer) ? (answer["status"] ?? {}) : undefined;
    return isJsonObject(status) ? status : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Checks audiences first, as upstream does: a token for other audiences counts as unknown. */
function findingOf(
  status: JsonObject,
  wanted: readonly string[],
  own: readonly string[],
): TokenFinding | undefined {
  const named = textsOf(status["audiences"]);
  const given = named.length > 0 ? named : own;
  const audiences = commonAudiences(wanted, given);
  if (audiences.length === 0) return undefined;
  if (status["authenticated"] === true) return { type: "bearer", user: userOf(status["user"]), audiences };
  const reason = textOf(status["error"]);
  return reason === "" ? undefined : { type: "refused", reason };
}

function userOf(json: unknown): User {
  const user = isJsonObject(json) ? json : {};
  const groups = textsOf(user["groups"]);
  const extra = isJsonObject(user["extra"]) ? user["extra"] : {};
  return {
    name: textOf(user["username"]),
    uid: textOf(user["uid"]),
    groups: groups.includes(AUTHENTICATED) ? groups : [...groups, AUTHENTICATED],
    extra: Object.fromEntries(Object.entries(extra).map(([name, values]) => [name, textsOf(values)])),
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
}
