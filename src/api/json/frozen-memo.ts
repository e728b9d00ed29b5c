/**
 * Caches the result of `compute` for each frozen value while the value is reachable. `compute` must depend on the value
 * only. A value that is not frozen may change, so its result is computed each time.
 */
export function frozenMemo<V extends object, R>(compute: (value: V) => R): (value: V) => R {
  const known = new WeakMap<V, { readonly result: R }>();
  return (value) => {
    if (!Object.isFrozen(value)) return compute(value);
    const found = known.get(value);
    if (found !== undefined) return found.result;
    const result = compute(value);
    known.set(value, { result });
    return result;
  };
}
