import type { CacheReader } from "../runtime/controller/controller.ts";

/** Gives each run of a controller its own in-memory state. The key of a run is its cache, as one process may hold several runs. */
export function perRunState<T>(make: () => T): (cache: CacheReader) => T {
  const memories = new WeakMap<CacheReader, { readonly memory: T }>();
  return (cache) => {
    const known = memories.get(cache) ?? { memory: make() };
    memories.set(cache, known);
    return known.memory;
  };
}
