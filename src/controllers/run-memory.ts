import type { CacheReader } from "../runtime/controller/controller.ts";

/** What a loop keeps of its passes for as long as it runs. A run is known by its caches: several may go on in one process. */
export function runMemory<T>(make: () => T): (cache: CacheReader) => T {
  const memories = new WeakMap<CacheReader, { readonly memory: T }>();
  return (cache) => {
    const known = memories.get(cache) ?? { memory: make() };
    memories.set(cache, known);
    return known.memory;
  };
}
