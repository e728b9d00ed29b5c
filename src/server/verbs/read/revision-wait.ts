/** Waits until the server has seen a revision. */
import { tooLargeResourceVersion } from "../../../api/errors/api-error.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import type { Store, View } from "../../../store/store.ts";

/** As kube-apiserver's: a client that is this far ahead is better off asking again. */
const WAIT_MS = 3000;
const LOOK_EVERY_MS = 20;

/** A view at least as new. Answers 504 "Too large resource version" when it does not come in time. */
export async function reachRevision(store: Store, loop: Loop, revision: number): Promise<View> {
  if (store.view.revision >= revision) return store.view;
  if (store.freshView === undefined) {
    // Where others write too, it may be there already: memory gets there when it is asked to, or does not get there by itself.
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
