/** Tokens that another server knows, asked by a TokenReview. Its answers hold for a while. */
import { createHmac } from "node:crypto";
import { isJsonObject } from "../../../api/json/json-object.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { DecisionCache } from "../../egress/decision-cache.ts";
import { EgressError } from "../../egress/egress.ts";
import { askReview } from "../../egress/review-call.ts";
import type { ReviewParts, ReviewServer } from "../../egress/review-call.ts";
import type { RequestNotes } from "../../request/request-notes.ts";
import type { User } from "../../request/user.ts";
import type { TokenAuthenticator, TokenFinding } from "./authenticator.ts";
import { commonAudiences } from "./jwt.ts";
import type { VerificationGate } from "./verification-gate.ts";

export interface TokenWebhookOptions extends ReviewServer {
  readonly version: "v1" | "v1beta1";
  /** How long an answer holds, yes or no; 0 for not at all. */
  readonly ttlMs: number;
}

interface Parts extends ReviewParts {
  readonly gate: VerificationGate;
  /** For whom a token is of which the answer does not say. */
  readonly audiences: readonly string[];
  /** Of the digests under which answers are kept. */
  readonly key: Uint8Array;
}

const AUTHENTICATED = "system:authenticated";

/** Tokens that the other server does not know: they never push out the tokens that it knows. */
const UNKNOWN_MAX = 1024;

/** What was found; undefined where the other server does not know the token and says nothing of why. */
interface Found {
  readonly finding: TokenFinding | undefined;
}

export function webhookTokens(options: TokenWebhookOptions, parts: Parts): TokenAuthenticator {
  const known = new DecisionCache<Found>();
  const unknown = new DecisionCache<Found>(UNKNOWN_MAX);
  /** Questions that were put and not answered yet: as many as the gate holds. */
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
      // As upstream, what went wrong there is not remembered.
      const isError = found.finding?.type === "refused";
      const cache = found.finding === undefined ? unknown : known;
      if (options.ttlMs > 0 && !isError) cache.keep(question, found, parts.loop.now() + options.ttlMs);
      return found.finding;
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      return { type: "refused", reason: error.message };
    }
  }

  /** As upstream, many requests with one token are one question. */
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
  parts: ReviewParts,
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
  if (status === undefined) throw new EgressError("answered with something that is no TokenReview");
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

/** Whom the token is for is looked at first, as upstream does: what is for somebody else is unknown here. */
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
