/** Cache keys: one string per object, in the order of namespace and name. */
import type { ApiObject, ObjectKey } from "../../api/api-object.ts";

/** Sorts before every character that names may contain. */
const SEPARATOR = "\0";

export function keyText({ namespace = "", name }: ObjectKey): string {
  return namespace + SEPARATOR + name;
}

export function keyOfObject({ metadata: { namespace = "", name = "" } }: ApiObject): string {
  return namespace + SEPARATOR + name;
}

export function namespaceOfKey(key: string): string {
  return key.slice(0, key.indexOf(SEPARATOR));
}

/** Bounds of the keys of a namespace: `from` is included, `to` is not. */
export function keysWithin(namespace: string): readonly [from: string, to: string] {
  return [namespace + SEPARATOR, namespace + "\u0001"];
}
