/**
 * Names of children that follow from their owner and their role: created twice, the second creation finds the first, whatever was
 * forgotten in between. An owner that is deleted and made again has other children.
 */
import type { ApiObject } from "../../api/api-object.ts";
import { hash32 } from "../../base/loop/random.ts";

/** Short enough for every kind, and for the value of a label. */
const LABEL_MAX = 63;
/** The alphabet of generated names: no vowels, so that no words come out. */
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";
/** Of 27 characters each; two equal ones among a million children of one name are less likely than one in ten thousand. */
const HASH_LENGTH = 10;

/** `web` and `config` give something like `web-config-x5k2z8bqrd`. The readable part is cut to fit. */
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
