import { isJsonObject } from "./json-object.ts";
import type { JsonObject } from "./json-object.ts";

/**
 * Takes every part of `next` that equals its counterpart in `previous` from there; returns `previous` if all is equal.
 * A later comparison then visits only the changes. Changes `next`: the caller may share only its frozen parts.
 */
export function shareParts<T>(next: T, previous: T): T {
  return share(next, previous) as T;
}

function share(next: unknown, previous: unknown): unknown {
  if (next === previous) return previous;
  if (Array.isArray(next)) return Array.isArray(previous) ? shareItems(next, previous) : next;
  if (!isJsonObject(next) || !isJsonObject(previous)) return next;
  return shareMembers(next as Record<string, unknown>, previous);
}

function shareItems(given: unknown[], previous: readonly unknown[]): readonly unknown[] {
  const next = Object.isFrozen(given) ? [...given] : given;
  let isSame = next.length === previous.length;
  for (let at = 0; at < next.length; at++) {
    const item = share(next[at], previous[at]);
    next[at] = item;
    isSame &&= item === previous[at];
  }
  return isSame ? previous : next;
}

function shareMembers(given: Record<string, unknown>, previous: JsonObject): JsonObject {
  const next = Object.isFrozen(given) ? { ...given } : given;
  const keys = Object.keys(next);
  const others = Object.keys(previous);
  let isSame = keys.length === others.length;
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] ?? "";
    const isInPlace = key === others[at];
    const other = isInPlace || Object.hasOwn(previous, key) ? previous[key] : undefined;
    const member = share(next[key], other);
    // The key exists already, so assigning it cannot hit a setter such as `__proto__`.
    if (member !== next[key]) next[key] = member;
    isSame &&= isInPlace && member === other;
  }
  return isSame ? previous : next;
}
