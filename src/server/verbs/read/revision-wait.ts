/** Waits until the server has seen a revision. */
import { tooLargeResourceVersion } from "../../../api/errors/api-error.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import type { Store, View } from "../../../store/store.ts";

/** Same as kube-apiserver's. A client that is this far ahead should retry instead. */
const WAIT_MS = 3000;
const LOOK_EVERY_MS = 20;

/** Waits for a view at least this new. Answers 504 "Too large resource version" when the wait times out. */
export async function reachRevision(store: Store, loop: Loop, revision: number): Promise<View> {
  if (store.view.revision >= revision) return store.view;
  if (store.isShared) {
    // The store may already have this revision. Asking the store for its newest revision updates the view at once.
    const newest = await store.fresh();
    if (newest.revision >= revision) return newest;
  }
  const deadline = loop.now() + WAIT_MS;
  while (store.view.revision < revision) {
    if (loop.now() >= deadline) throw tooLargeResourceVersion(revision, store.view.revision);
    await new Promise<void>((resolve) => {
      loop.timer(loop.now() + LOOK_EVERY_MS, "progress", resolve);
    });
  }
  return store.view;
}
