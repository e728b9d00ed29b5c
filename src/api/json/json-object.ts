/** JSON objects as JSON.parse makes them: ordinary objects whose keys are all data. */

export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Sets an own property, whatever its name. A plain assignment to `__proto__` would change the prototype. A plain
 * assignment to `constructor` or another inherited name fails while Object.prototype is frozen.
 */
export function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key in Object.prototype) {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    target[key] = value;
  }
}

/**
 * The object with sorted keys; the same object if they are sorted already. JavaScript always puts integer-like keys
 * first, in numeric order. "Sorted" therefore means the order that inserting the keys in sorted order gives.
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
