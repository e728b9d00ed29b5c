/** Stores on real etcd servers, for the tests of the etcd engine. */
import type { Loop } from "../../../src/base/loop/loop.ts";
import { createRealLoop } from "../../../src/base/loop/real/real-loop.ts";
import type { EtcdStore, EtcdStoreOptions } from "../../../src/store/etcd/etcd-store.ts";
import { openEtcdStore } from "../../../src/store/etcd/etcd-store.ts";

export interface OpenedStore extends AsyncDisposable {
  readonly store: EtcdStore;
  readonly loop: Loop;
}

/** With this seed a store begins with the first of two or three endpoints. */
const FIRST_ENDPOINT = 0;

/** A store with short timeouts that leaves compaction to the test. */
export async function openStore(
  endpoints: string | readonly string[],
  options: Partial<EtcdStoreOptions> = {},
): Promise<OpenedStore> {
  const isOne = typeof endpoints === "string";
  const loop = createRealLoop(isOne ? { name: "store" } : { name: "store", seed: FIRST_ENDPOINT });
  const store = await openEtcdStore({
    loop,
    endpoints: isOne ? [endpoints] : endpoints,
    compactionIntervalMs: 0,
    requestTimeoutMs: 1_000,
    proveEveryMs: 200,
    openTimeoutMs: 3_000,
    ...options,
  });
  return { store, loop, [Symbol.asyncDispose]: () => store.close() };
}
