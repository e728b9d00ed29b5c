/** Waits until the server has seen a revision. */
import { tooLargeResourceVersion } from "../api/api-error.ts";
import type { Loop } from "../base/loop.ts";
import type { Store } from "../store/store.ts";

/** As kube-apiserver's: a client that is this far ahead is better off asking again. */
const WAIT_MS = 3000;
const LOOK_EVERY_MS = 20;

/** Answers 504 "Too large resource version" when it does not come in time. */
export async function reachRevision(store: Store, loop: Loop, revision: number): Promise<void> {
  if (store.view.revision >= revision) return;
  // Where others write too, it may be there already, and memory that follows only some of them gets there when it is asked to.
  if (store.freshView === undefined) await store.fresh();
  const deadline = loop.now() + WAIT_MS;
  while (store.view.revision < revision) {
    if (loop.now() >= deadline) throw tooLargeResourceVersion(revision, store.view.revision);
    await new Promise<void>((resolve) => {
      loop.timer(loop.now() + LOOK_EVERY_MS, "progress", resolve);
    });
  }
}
