/**
 * Names of children, derived from the owner's uid and the child's role. Creating a child twice finds the first one,
 * even after a crash. An owner that is deleted and created again gets new names.
 */
import type { ApiObject } from "../../api/api-object.ts";
import { hash32 } from "../../base/loop/random.ts";

/** Short enough for the name of every kind and for a label value. */
const LABEL_MAX = 63;
/** Alphabet of generated names: no vowels, so that no words appear. */
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";
/** With 27 characters each, a collision among a million children of one name is less likely than 1 in 10,000. */
const HASH_LENGTH = 10;

/**
 * Name of a child: owner `web` and role `config` give for example `web-config-x5k2z8bqrd`.
 * The readable part is cut to fit.
 * @param role - Purpose of the child; different for each child of one owner.
 * @param maxLength - Upper bound of the length: 63 (default) is valid for every kind.
 */
export function childName(owner: ApiObject, role: string, maxLength: 63 | 253 = LABEL_MAX): string {
  const { name = "", uid = "" } = owner.metadata;
  const readable = maxLength === LABEL_MAX ? `${name}-${role}`.replaceAll(".", "-") : `${name}-${role}`;
  const prefix = readable.slice(0, maxLength - HASH_LENGTH - 1).replace(/[-.]+$/, "");
  return `${prefix}-${hashText(`${uid}\0${role}`)}`;
}

function hashText(text: string): string {
  let rest = (BigInt(hash32(text)) << 32n) | BigInt(hash32(text, 0x9e3779b9));
  const base = BigInt(ALPHABET.length);
  let hash = "";
  for (let at = 0; at < HASH_LENGTH; at++) {
    hash += ALPHABET.charAt(Number(rest % base));
    rest /= base;
  }
  return hash;
}
