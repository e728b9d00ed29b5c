/**
 * Keys are kept in groups, so that what happens in one costs the others nothing: each group has its own sorted map and its
 * own history. A group is all keys with the same first two segments, or three when the second has a dot:
 *
 *     /registry/pods/default/web-1              -> /registry/pods/
 *     /registry/example.com/widgets/default/a   -> /registry/example.com/widgets/
 *     /registry/ranges                          -> /registry/ranges        (a group of one key)
 *
 * No group lies within another, so groups in order of their names give all keys in order.
 */
export function groupOf(key: string): string {
  if (key.startsWith(latest)) return latest;
  const group = findGroup(key);
  // Then whatever begins with it has the same first segments.
  if (group.length < key.length) latest = group;
  return group;
}

/** The group of a recent key: neighbours get the same text, whose hash is known, instead of a new one each. */
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
