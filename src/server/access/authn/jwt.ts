/** Splits JSON Web Tokens (RFC 7519, compact form) into their parts. Does not verify signatures. */
import { isJsonObject } from "../../../api/json/json-object.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";

export interface JwtParts {
  readonly header: JsonObject;
  readonly claims: JsonObject;
  /** The signed bytes. */
  readonly signed: Buffer;
  readonly signature: Buffer;
}

/** Longer than any header that the transport accepts; a TokenReview may contain more. */
const LENGTH_MAX = 128 * 1024;
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/** Undefined for text that is not a JWT. */
export function findParts(token: string): JwtParts | undefined {
  if (token.length > LENGTH_MAX || !COMPACT.test(token)) return undefined;
  const [head = "", body = "", tail = ""] = token.split(".");
  const header = findObject(head);
  const claims = findObject(body);
  if (header === undefined || claims === undefined) return undefined;
  const signature = Buffer.from(tail, "base64url");
  return { header, claims, signature, signed: Buffer.from(`${head}.${body}`, "latin1") };
}

function findObject(encoded: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(encoded, "base64url").toString());
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A string claim; empty if it is absent or of another type. */
export function textClaim(claims: JsonObject, name: string): string {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  return typeof value === "string" ? value : "";
}

/** `aud` is a string or a list of strings. */
export function audiencesOf(claims: JsonObject): readonly string[] {
  const { aud } = claims;
  const values: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  return values.filter((value) => typeof value === "string");
}

/** Entries of `wanted` that are also in `given`. Linear time, because a review may contain long lists. */
export function commonAudiences(wanted: readonly string[], given: readonly string[]): readonly string[] {
  const all = new Set(given);
  return wanted.filter((audience) => all.has(audience));
}

export function listText(texts: readonly string[]): string {
  return `[${texts.map((text) => JSON.stringify(text)).join(" ")}]`;
}
