/** Short names for revisions of a template; equal templates have equal names. */
import { stringifyJson } from "../../api/json/json-text.ts";

/** Upstream's digits: without vowels, so that no word can appear. */
const DIGITS = "456789bcdf";
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** `collisions` changes the name when a different template has the same hash. */
export function templateHash(template: unknown, collisions: number | undefined): string {
  const text = stringifyJson(template) + (collisions === undefined ? "" : `\0${String(collisions)}`);
  let hash = FNV_OFFSET;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME);
  }
  return String(hash >>> 0).replaceAll(/\d/g, (digit) => DIGITS.charAt(Number(digit)));
}
