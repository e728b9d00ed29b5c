/** Who is it (authentication.k8s.io): the caller, or the bearer of a token. */
import { badRequest } from "../../api/api-error.ts";
import type { TokenReview, TokenReviewStatus } from "../../api/generated/types/authentication-v1.ts";
import { isJsonObject } from "../../api/json-object.ts";
import type { JsonObject } from "../../api/json-object.ts";
import type { Verb, Workshop } from "../call.ts";
import { keyOf } from "../objects.ts";
import { requireStored } from "../registry.ts";
import type { Resource } from "../registry.ts";
import { StoredObject } from "../stored-object.ts";
import { timeText } from "../write/system-metadata.ts";
import { answered, readQuestion } from "./review.ts";

export const reviewSelf: Verb<Resource> = async (call, { loop }) => {
  const question = await readQuestion(call);
  const { name, uid, groups, extra } = call.user;
  const metadata = { ...question.object.metadata, creationTimestamp: timeText(loop.now()) };
  const status = { userInfo: { username: name, uid, groups, extra } };
  return answered({ ...question, object: { ...question.object, metadata } }, status, call);
};

export const reviewToken: Verb<Resource> = async (call, workshop) => {
  const question = await readQuestion(call);
  const { token = "", audiences = [] } = (question.object as TokenReview).spec;
  if (token === "") throw badRequest("token is required for TokenReview in authentication");
  const wanted = audiences.length === 0 ? workshop.tokens.audiences : audiences;
  return answered(question, judge(token, wanted, workshop), call);
};

function judge(token: string, wanted: readonly string[], workshop: Workshop): TokenReviewStatus {
  const claims = workshop.tokens.findClaims(token);
  if (claims === undefined) return refused("invalid bearer token");
  const now = workshop.loop.now() / 1000;
  if (Number(claims["exp"]) <= now)
    return refused("[invalid bearer token, service account token has expired]");
  if (Number(claims["nbf"]) > now)
    return refused("[invalid bearer token, service account token is not valid yet]");
  const given = Array.isArray(claims["aud"]) ? claims["aud"].map(String) : [];
  const audiences = wanted.filter((audience) => given.includes(audience));
  if (audiences.length === 0) {
    const lists = `[${given.map((each) => JSON.stringify(each)).join(" ")}] is not for [${wanted.map((each) => JSON.stringify(each)).join(" ")}]`;
    return refused(`[invalid bearer token, token audiences ${lists}]`);
  }
  return bearerOf(claims, audiences, workshop);
}

function bearerOf(claims: JsonObject, audiences: readonly string[], workshop: Workshop): TokenReviewStatus {
  const own = record(claims["kubernetes.io"]);
  const namespace = text(own["namespace"]);
  const account = reference(own["serviceaccount"]);
  if (!isThere("serviceaccounts", { namespace, ...account }, workshop)) {
    return refused("[invalid bearer token, service account token has been invalidated]");
  }
  const extra: Record<string, readonly string[]> = {
    "authentication.kubernetes.io/credential-id": [`JTI=${text(claims["jti"])}`],
  };
  for (const [kind, resource] of BOUND) {
    if (own[kind] === undefined) continue;
    const bound = reference(own[kind]);
    // A pod's node is told, not required: it may be gone while the pod still is there.
    const isRequired = kind !== "node" || own["pod"] === undefined;
    if (isRequired && !isThere(resource, { namespace, ...bound }, workshop)) {
      return refused("[invalid bearer token, service account token has been invalidated]");
    }
    if (kind === "secret") continue;
    extra[`authentication.kubernetes.io/${kind}-name`] = [bound.name];
    if (bound.uid !== "") extra[`authentication.kubernetes.io/${kind}-uid`] = [bound.uid];
  }
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
  const username = `system:serviceaccount:${namespace}:${account.name}`;
  return { authenticated: true, user: { username, uid: account.uid, groups, extra }, audiences };
}

const BOUND: readonly (readonly [kind: string, resource: string])[] = [
  ["pod", "pods"],
  ["node", "nodes"],
  ["secret", "secrets"],
];

interface Reference {
  readonly name: string;
  readonly uid: string;
}

/** The same object, not another one by that name. */
function isThere(
  resource: string,
  { namespace, name, uid }: Reference & { readonly namespace: string },
  { registry, store }: Workshop,
): boolean {
  const entry = store.view.get(keyOf(requireStored(registry, "", resource), namespace, name));
  return entry !== undefined && StoredObject.of(entry).object.metadata.uid === uid;
}

function reference(value: unknown): Reference {
  const { name, uid } = record(value);
  return { name: text(name), uid: text(uid) };
}

function record(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function refused(error: string): TokenReviewStatus {
  return { user: {}, error };
}
