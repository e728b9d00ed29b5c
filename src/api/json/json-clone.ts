/** A deep copy of a JSON value. Several times faster than structuredClone, which supports more types. */
export function cloneJson<T>(value: T): T {
  return clone(value) as T;
}

function clone(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(clone);
  const copy: Record<string, unknown> = { ...value };
  for (const key of Object.keys(copy)) {
    const member = copy[key];
    // The copy already has `__proto__` as an own property, so this assignment does not change the prototype.
    if (typeof member === "object" && member !== null) copy[key] = clone(member);
  }
  return copy;
}
