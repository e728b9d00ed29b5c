/**
 * Authenticates service account tokens. A signature is verified once and cached. The bound objects are checked on
 * each request, because they may have been deleted since; all of them are in memory.
 */
import type { Secret, ServiceAccount } from "../../../api/generated/types/core-v1.ts";
import { isJsonObject } from "../../../api/json/json-object.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import type { RequestNotes } from "../../request/request-notes.ts";
import type { User } from "../../request/user.ts";
import type { TokenAuthenticator, TokenFinding } from "./authenticator.ts";
import { findOddAccountClaim } from "./claim-types.ts";
import { audiencesOf, commonAudiences, listText, textClaim } from "./jwt.ts";
import type { ObjectFinder } from "./object-finder.ts";
import { isHolder, noteSecretUse } from "./secret-tokens.ts";
import { LEGACY_ISSUER } from "./token-issuer.ts";
import type { TokenIssuer } from "./token-issuer.ts";

export interface AccountTokenParts {
  readonly loop: Loop;
  readonly tokens: TokenIssuer;
  readonly objects: ObjectFinder;
  /** Called when a token of a Secret is used and the Secret's last-used date is not today's. */
  readonly onSecretUse?: ((secret: Secret) => void) | undefined;
}

/** Upstream's leeway: it covers clock differences, and the last requests of a deleted pod. */
const LEEWAY_MS = 60_000;
const INVALIDATED = "service account token has been invalidated";

export function accountTokens(parts: AccountTokenParts): TokenAuthenticator {
  const { tokens } = parts;
  return {
    find(token, wanted, notes) {
      const origin = tokens.originOf(token);
      if (origin.type === "foreign") return undefined;
      if (origin.type === "forged") return refused("error in cryptographic primitive");
      const { claims } = origin;
      const odd = findOddAccountClaim(claims);
      if (odd !== undefined)
        return refused(`service account token claim ${JSON.stringify(odd)} is malformed`);
      const isLegacy = textClaim(claims, "iss") === LEGACY_ISSUER;
      const meantFor = audiencesOf(claims);
      if (meantFor.length === 0)
        notes?.annotate("authentication.k8s.io/legacy-token", textClaim(claims, "sub"));
      const given = meantFor.length === 0 ? tokens.audiences : meantFor;
      const audiences = commonAudiences(wanted, given);
      if (audiences.length === 0)
        return refused(
          `token audiences ${listText(given)} is invalid for the target audiences ${listText(wanted)}`,
        );
      const shown = { claims, token, isLegacy, notes };
      const problem = findProblem(shown, parts) ?? noteUse(shown, parts);
      if (problem !== undefined) return refused(problem);
      noteStaleness(shown, parts.loop.now());
      return { type: "bearer", user: userOf(claims, isLegacy ? legacyBearer : bearerOf), audiences };
    },
  };
}

function findProblem({ claims, token, isLegacy }: Shown, parts: AccountTokenParts): string | undefined {
  if (isLegacy) return findLegacyProblem(claims, token, parts);
  return findTimeProblem(claims, parts.loop.now()) ?? findBindingProblem(claims, parts);
}

function refused(reason: string): TokenFinding {
  return { type: "refused", reason };
}

function findTimeProblem({ exp, nbf, iat }: JsonObject, now: number): string | undefined {
  if (typeof exp !== "number") return "service account token has no expiration";
  if (now - LEEWAY_MS > exp * 1000) return "service account token has expired";
  if (typeof nbf === "number" && now + LEEWAY_MS < nbf * 1000)
    return "service account token is not valid yet";
  if (typeof iat === "number" && now + LEEWAY_MS < iat * 1000)
    return "service account token is issued in the future";
  return undefined;
}

/**
 * Annotates a token that the pod should have renewed by now. The audit log thereby lists pods whose access will end.
 */
function noteStaleness({ claims, notes }: Shown, now: number): void {
  const warnAfter = ownClaims(claims)["warnafter"];
  if (typeof warnAfter !== "number" || warnAfter === 0 || now <= warnAfter * 1000) return;
  const seconds = Math.floor(now / 1000) - warnAfter;
  notes?.annotate(
    "authentication.k8s.io/stale-token",
    `subject: ${textClaim(claims, "sub")}, seconds after warning threshold: ${String(seconds)}`,
  );
}

/** An object named in a token, by name and uid. */
interface Reference {
  readonly name: string;
  readonly uid: string;
}

function findBindingProblem(claims: JsonObject, parts: AccountTokenParts): string | undefined {
  const own = ownClaims(claims);
  const namespace = textClaim(own, "namespace");
  const account = referenceOf(own, "serviceaccount");
  if (account === undefined) return INVALIDATED;
  const problem = findAccountProblem(namespace, account, parts);
  if (problem !== undefined) return problem;
  for (const { kind, resource } of BOUND) {
    // A pod's node claim is informational: the node may be deleted before the pod.
    const bound = kind === "node" && own["pod"] !== undefined ? undefined : referenceOf(own, kind);
    if (bound === undefined) continue;
    const found = parts.objects(resource, kind === "node" ? "" : namespace, bound.name);
    if (found === undefined || isLongDeleted(found, parts.loop)) return INVALIDATED;
    if (found.metadata.uid !== bound.uid)
      return `${kind} UID (${found.metadata.uid ?? ""}) does not match service account ${kind} ref claim (${bound.uid})`;
  }
  return undefined;
}

const BOUND = [
  { kind: "secret", resource: "secrets" },
  { kind: "pod", resource: "pods" },
  { kind: "node", resource: "nodes" },
] as const;

function findAccountProblem(
  namespace: string,
  { name, uid }: Reference,
  { objects, loop }: AccountTokenParts,
): string | undefined {
  const found = objects("serviceaccounts", namespace, name);
  if (found === undefined) return `serviceaccounts ${JSON.stringify(name)} not found`;
  if (found.metadata.uid !== uid)
    return `service account UID (${found.metadata.uid ?? ""}) does not match claim (${uid})`;
  return isLongDeleted(found, loop) ? `service account ${namespace}/${name} has been deleted` : undefined;
}

function isLongDeleted({ metadata: { deletionTimestamp } }: ApiObject, loop: Loop): boolean {
  return deletionTimestamp !== undefined && Date.parse(deletionTimestamp) < loop.now() - LEEWAY_MS;
}

const LEGACY = "kubernetes.io/serviceaccount/";

/** A legacy token has no expiry: it is valid while its Secret contains it and its account exists. */
function findLegacyProblem(claims: JsonObject, token: string, parts: AccountTokenParts): string | undefined {
  const { namespace, account } = legacyBearer(claims);
  const name = textClaim(claims, `${LEGACY}secret.name`);
  if (textClaim(claims, "sub") !== userName(namespace, account.name)) return "sub claim is invalid";
  const secret = parts.objects("secrets", namespace, name) as Secret | undefined;
  if (secret === undefined || secret.metadata.deletionTimestamp !== undefined) return INVALIDATED;
  if (!isHolder(secret, token)) return "token does not match server's copy";
  return findAccountProblem(namespace, account, parts);
}

interface Shown {
  readonly claims: JsonObject;
  readonly token: string;
  readonly isLegacy: boolean;
  readonly notes: RequestNotes | undefined;
}

/** Records the use of a token stored in a Secret, with or without expiry. */
function noteUse({ claims, token, isLegacy, notes }: Shown, parts: AccountTokenParts): string | undefined {
  const name = isLegacy
    ? textClaim(claims, `${LEGACY}secret.name`)
    : (referenceOf(ownClaims(claims), "secret")?.name ?? "");
  if (name === "") return undefined;
  const { namespace, account } = isLegacy ? legacyBearer(claims) : bearerOf(claims);
  const secret = parts.objects("secrets", namespace, name) as Secret | undefined;
  const holder = parts.objects("serviceaccounts", namespace, account.name) as ServiceAccount | undefined;
  if (secret === undefined || holder === undefined || !isHolder(secret, token)) return undefined;
  return noteSecretUse({ secret, account: holder, now: parts.loop.now(), notes, onUse: parts.onSecretUse });
}

interface Bearer {
  readonly namespace: string;
  readonly account: Reference;
  readonly extra: User["extra"];
}

function legacyBearer(claims: JsonObject): Bearer {
  const name = textClaim(claims, `${LEGACY}service-account.name`);
  const uid = textClaim(claims, `${LEGACY}service-account.uid`);
  return { namespace: textClaim(claims, `${LEGACY}namespace`), account: { name, uid }, extra: {} };
}

function bearerOf(claims: JsonObject): Bearer {
  const own = ownClaims(claims);
  const extra: Record<string, readonly string[]> = {};
  const tell = (name: string, value: string): void => {
    if (value !== "") extra[`authentication.kubernetes.io/${name}`] = [value];
  };
  const id = textClaim(claims, "jti");
  tell("credential-id", id === "" ? "" : `JTI=${id}`);
  for (const kind of ["node", "pod"]) {
    const { name = "", uid = "" } = referenceOf(own, kind) ?? {};
    tell(`${kind}-name`, name);
    tell(`${kind}-uid`, uid);
  }
  const account = referenceOf(own, "serviceaccount") ?? { name: "", uid: "" };
  return { namespace: textClaim(own, "namespace"), account, extra };
}

/** One User object for all requests with a token, because its identity does not change. */
const users = new WeakMap<JsonObject, User>();

function userOf(claims: JsonObject, read: (claims: JsonObject) => Bearer): User {
  const known = users.get(claims);
  if (known !== undefined) return known;
  const { namespace, account, extra } = read(claims);
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
  const user = { name: userName(namespace, account.name), uid: account.uid, groups, extra };
  users.set(claims, user);
  return user;
}

function userName(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

function ownClaims(claims: JsonObject): JsonObject {
  const own = claims["kubernetes.io"];
  return isJsonObject(own) ? own : {};
}

function referenceOf(own: JsonObject, kind: string): Reference | undefined {
  const value = own[kind];
  if (!isJsonObject(value)) return undefined;
  return { name: textClaim(value, "name"), uid: textClaim(value, "uid") };
}
