/** A copy of a JSON value that nobody else holds. Several times quicker than structuredClone, which expects more. */
export function cloneJson<T>(value: T): T {
  return clone(value) as T;
}

function clone(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(clone);
  const copy: Record<string, unknown> = { ...value };
  for (const key of Object.keys(copy)) {
    const member = copy[key];
    // The copy has the key for its own by now, so that assigning `__proto__` means the member too.
    if (typeof member === "object" && member !== null) copy[key] = clone(member);
  }
  return copy;
}
