/** Keys of objects as text, for queues and for people. */
import type { ObjectKey } from "../../api/api-object.ts";

/** `namespace/name`; the key of a cluster-scoped object begins with the slash. */
export function keyOf({ namespace = "", name = "" }: Partial<ObjectKey>): string {
  return `${namespace}/${name}`;
}

/** Namespaces contain no slash; names may. */
export function objectKeyOf(key: string): ObjectKey {
  const slash = key.indexOf("/");
  const name = key.slice(slash + 1);
  return slash === 0 ? { name } : { namespace: key.slice(0, slash), name };
}

/** The key in the form that people write. */
export function keyLabel(key: string): string {
  return key.startsWith("/") ? key.slice(1) : key;
}
