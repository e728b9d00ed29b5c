/** Where an object lies, as one string whose order is that of namespace and name. */
import type { ApiObject, ObjectKey } from "../../api/api-object.ts";

/** Sorts before everything that names may contain. */
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

/** From the first, up to but without the second, lie the keys of a namespace. */
export function keysWithin(namespace: string): readonly [from: string, to: string] {
  return [namespace + SEPARATOR, namespace + "\u0001"];
}
