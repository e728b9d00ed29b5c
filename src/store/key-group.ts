/**
 * Splits keys into groups, each with its own sorted map and history, so that a busy group costs the others nothing.
 * A group is all keys with the same first two segments, or three when the second has a dot:
 * /registry/pods/default/web-1 -> /registry/pods/
 * /registry/example.com/widgets/default/a -> /registry/example.com/widgets/
 * /registry/ranges -> /registry/ranges (a group of one key)
 * No group contains another, so groups in order of their names give all keys in order.
 */
export function groupOf(key: string): string {
  if (key.startsWith(latest)) return latest;
  const group = findGroup(key);
  // Every key that begins with this text has the same first segments.
  if (group.length < key.length) latest = group;
  return group;
}

/** Cached group of the last key: neighbours share one string with a known hash instead of creating one each. */
let latest = "/registry/pods/";

function findGroup(key: string): string {
  const second = key.indexOf("/", 1);
  const third = second < 0 ? -1 : key.indexOf("/", second + 1);
  if (third < 0) return key;
  const dot = key.indexOf(".", second + 1);
  if (dot < 0 || dot > third) return key.slice(0, third + 1);
  const fourth = key.indexOf("/", third + 1);
  return fourth < 0 ? key : key.slice(0, fourth + 1);
}

/** Whether a key is watched or read under `prefix`: the key itself, or a prefix that ends with "/"; "" is everything. */
export function isUnder(key: string, prefix: string): boolean {
  return prefix === "" || key === prefix || (prefix.endsWith("/") && key.startsWith(prefix));
}

/** Whether a group can hold keys under `prefix`. */
export function groupMeets(group: string, prefix: string): boolean {
  return isUnder(group, prefix) || isUnder(prefix, group);
}
