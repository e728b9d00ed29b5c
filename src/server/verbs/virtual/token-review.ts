/** Identity reviews (authentication.k8s.io): the caller itself, or the user of a bearer token. */
import { badRequest } from "../../../api/errors/api-error.ts";
import type { TokenReview, TokenReviewStatus } from "../../../api/generated/types/authentication-v1.ts";
import { timeText } from "../../../api/values/time.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import type { TokenFinding } from "../../access/authn/authenticator.ts";
import type { BearerTokens } from "../../access/authn/bearer-tokens.ts";
import type { Resource } from "../../objects/registry.ts";
import type { Answer } from "../../request/answer.ts";
import type { WriteCall } from "../../write/write-call.ts";
import type { ReviewParts } from "./review.ts";
import { answered, readQuestion } from "./review.ts";

interface SelfReviewParts extends ReviewParts {
  readonly loop: Loop;
}

export interface TokenReviewParts extends ReviewParts {
  /** Finds the user that a bearer token stands for. */
  readonly bearers: BearerTokens;
}

export async function reviewSelf(call: WriteCall<Resource>, verbParts: SelfReviewParts): Promise<Answer> {
  const question = await readQuestion(call, verbParts);
  const { name, uid, groups, extra } = call.user;
  const metadata = { ...question.object.metadata, creationTimestamp: timeText(verbParts.loop.now()) };
  const status = { userInfo: { username: name, uid, groups, extra } };
  return answered({ ...question, object: { ...question.object, metadata } }, status, call);
}

export async function reviewToken(call: WriteCall<Resource>, verbParts: TokenReviewParts): Promise<Answer> {
  const { bearers } = verbParts;
  const question = await readQuestion(call, verbParts);
  const { token = "", audiences = [] } = (question.object as TokenReview).spec;
  if (token === "") throw badRequest("token is required for TokenReview in authentication");
  const wanted = audiences.length === 0 ? bearers.audiences : audiences;
  return answered(question, statusOf(await bearers.find(token, wanted, call.notes)), call);
}

function statusOf(found: TokenFinding): TokenReviewStatus {
  if (found.type === "refused") return { user: {}, error: found.reason };
  const { name: username, uid, groups, extra } = found.user;
  return { authenticated: true, user: { username, uid, groups, extra }, audiences: found.audiences };
}
