/**
 * The types of claims that decide whether a token counts. A token with a claim of another type is refused as a whole: a check that skips an odd value
 * would hold for ever what was meant to end.
 */
import { isJsonObject } from "../../../api/json/json-object.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";

type ClaimCheck = (value: unknown) => boolean;

const isText: ClaimCheck = (value) => typeof value === "string";
/** Numbers such as 1e999 are read as infinite: no time ever comes after them. */
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

/** The name of a registered claim of a wrong type; undefined when each is absent or as RFC 7519 has it. */
export function findOddClaim(claims: JsonObject): string | undefined {
  return findOddMember(claims, REGISTERED);
}

/** The same of a token of a service account, with the claims of Kubernetes. */
export function findOddAccountClaim(claims: JsonObject): string | undefined {
  return findOddMember(claims, ACCOUNT);
}

function findOddMember(object: JsonObject, checks: ReadonlyMap<string, ClaimCheck>): string | undefined {
  for (const [name, isRight] of checks)
    if (Object.hasOwn(object, name) && !isRight(object[name])) return name;
  return undefined;
}
