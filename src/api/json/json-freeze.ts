/**
 * Freezes a JSON value at every depth. A frozen value is assumed to be frozen in depth already: only this function
 * freezes values.
 */
export function freezeJson<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) freezeJson(member);
  return Object.freeze(value);
}
