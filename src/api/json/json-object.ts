/** JSON objects as JSON.parse makes them: ordinary objects, whose every key is data. */

export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Sets an own property whatever its name. Plain assignment would change the prototype for `__proto__`, and fails
 * for `constructor` and its like while Object.prototype is frozen.
 */
export function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key in Object.prototype) {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    target[key] = value;
  }
}

/**
 * The object with its keys in order, itself when they already are. JavaScript keeps integer-like keys in front and
 * in numeric order whatever one does, so that "in order" means the order a sorted insertion gives.
 */
export function withSortedKeys(value: JsonObject): JsonObject {
  const keys = Object.keys(value);
  if (isSorted(keys)) return value;
  const sorted: Record<string, unknown> = {};
  for (const key of keys.toSorted()) setOwn(sorted, key, value[key]);
  return Object.keys(sorted).every((key, at) => key === keys[at]) ? value : sorted;
}

export function isSorted(keys: readonly string[]): boolean {
  for (let at = 1; at < keys.length; at++) {
    if ((keys[at - 1] ?? "") >= (keys[at] ?? "")) return false;
  }
  return true;
}
