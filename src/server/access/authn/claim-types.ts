/**
 * Type checks of the claims that decide whether a token is valid. A claim of another type makes the whole token
 * invalid: a check that skipped a malformed expiry would accept the token for ever.
 */
import { isJsonObject } from "../../../api/json/json-object.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";

type ClaimCheck = (value: unknown) => boolean;

const isText: ClaimCheck = (value) => typeof value === "string";
/** JSON.parse reads numbers such as 1e999 as infinity, which never expires. */
const isTime: ClaimCheck = (value) => typeof value === "number" && Number.isFinite(value);
const isTextOrTexts: ClaimCheck = (value) => (Array.isArray(value) ? value.every(isText) : isText(value));

/** RFC 7519, 4.1. */
const REGISTERED: ReadonlyMap<string, ClaimCheck> = new Map([
  ["iss", isText],
  ["sub", isText],
  ["aud", isTextOrTexts],
  ["exp", isTime],
  ["nbf", isTime],
  ["iat", isTime],
  ["jti", isText],
]);

const REFERENCE: ReadonlyMap<string, ClaimCheck> = new Map([
  ["name", isText],
  ["uid", isText],
]);
const isReference: ClaimCheck = (value) =>
  isJsonObject(value) && findOddMember(value, REFERENCE) === undefined;

/** Members of `kubernetes.io`. */
const OWN: ReadonlyMap<string, ClaimCheck> = new Map([
  ["namespace", isText],
  ["serviceaccount", isReference],
  ["pod", isReference],
  ["secret", isReference],
  ["node", isReference],
  ["warnafter", isTime],
]);
const ACCOUNT: ReadonlyMap<string, ClaimCheck> = new Map([
  ...REGISTERED,
  ["kubernetes.io", (value) => isJsonObject(value) && findOddMember(value, OWN) === undefined],
]);

/** Name of a registered claim of the wrong type; undefined if all are absent or valid by RFC 7519. */
export function findOddClaim(claims: JsonObject): string | undefined {
  return findOddMember(claims, REGISTERED);
}

/** The same for a service account token, including Kubernetes' own claims. */
export function findOddAccountClaim(claims: JsonObject): string | undefined {
  return findOddMember(claims, ACCOUNT);
}

function findOddMember(object: JsonObject, checks: ReadonlyMap<string, ClaimCheck>): string | undefined {
  for (const [name, isRight] of checks)
    if (Object.hasOwn(object, name) && !isRight(object[name])) return name;
  return undefined;
}
