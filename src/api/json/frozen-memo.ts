/**
 * What is found out of a frozen value stays true, and is kept for as long as the value is. `compute` looks at nothing but the value. Of a value that
 * may still change it is computed each time.
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
