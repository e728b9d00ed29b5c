/** Stores on real etcd servers, for the tests of the etcd engine. */
import type { Loop } from "../../../src/base/loop.ts";
import { createRealLoop } from "../../../src/base/real-loop.ts";
import type { EtcdStore, EtcdStoreOptions } from "../../../src/store/etcd/etcd-store.ts";
import { openEtcdStore } from "../../../src/store/etcd/etcd-store.ts";

export interface OpenedStore extends AsyncDisposable {
  readonly store: EtcdStore;
  readonly loop: Loop;
}

/** A store that notices trouble soon, and leaves compaction to the test. */
export async function openStore(
  endpoints: string | readonly string[],
  options: Partial<EtcdStoreOptions> = {},
): Promise<OpenedStore> {
  const loop = createRealLoop({ name: "store" });
  const store = await openEtcdStore({
    loop,
    endpoints: typeof endpoints === "string" ? [endpoints] : endpoints,
    compactionIntervalMs: 0,
    requestTimeoutMs: 1_000,
    proveEveryMs: 200,
    openTimeoutMs: 3_000,
    ...options,
  });
  return { store, loop, [Symbol.asyncDispose]: () => store.close() };
}
