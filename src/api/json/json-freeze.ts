/** Freezes a JSON value through and through. What is frozen already is taken to be so in depth: only this function freezes values. */
export function freezeJson<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) freezeJson(member);
  return Object.freeze(value);
}
