/** JSON Web Tokens (RFC 7519) in their compact form, taken apart. Nothing here says that a token is genuine. */
import { isJsonObject } from "../../../api/json/json-object.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";

export interface TokenParts {
  readonly header: JsonObject;
  readonly claims: JsonObject;
  /** What was signed. */
  readonly signed: Buffer;
  readonly signature: Buffer;
}

/** Longer than any header that the transport lets in; a TokenReview may hold more. */
const LENGTH_MAX = 128 * 1024;
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/** Undefined for what is no such token. */
export function findParts(token: string): TokenParts | undefined {
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

/** A claim that is a text; empty when it is none. */
export function textClaim(claims: JsonObject, name: string): string {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  return typeof value === "string" ? value : "";
}

/** `aud` is a text or a list of them. */
export function audiencesOf(claims: JsonObject): readonly string[] {
  const { aud } = claims;
  const values: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  return values.filter((value) => typeof value === "string");
}

/** Of those that are wanted, the ones that are given. Both may be as long as a review is. */
export function commonAudiences(wanted: readonly string[], given: readonly string[]): readonly string[] {
  const all = new Set(given);
  return wanted.filter((audience) => all.has(audience));
}

export function listText(texts: readonly string[]): string {
  return `[${texts.map((text) => JSON.stringify(text)).join(" ")}]`;
}
