/**
 * How much old garbage lies about in a large cluster. V8 waits with collecting it until the heap has grown to up to four times what was in use;
 * with 10,000 pods on 1,000 nodes the process takes 600 MB then, and 450 when it may grow by 70 % only. A small heap would be collected all the time:
 * watches of a small cluster would be a third slower. So it depends on what is in use.
 */
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { beatWithin } from "../base/beat.ts";
import type { Loop } from "../base/loop.ts";

const LARGE_BYTES = 128 * 1024 * 1024;
/** Right after a collection a heap that grows quickly looks small, while with the next one V8 settles how far it may grow from there. */
const SMALL_BYTES = 64 * 1024 * 1024;
const LOOK_EVERY_MS = 1000;
const BOUNDED = "--heap-growing-percent=70";
/** V8 decides. */
const UNBOUNDED = "--heap-growing-percent=0";

/** Until the signal is aborted. */
export function watchHeapGrowth(loop: Loop, signal: AbortSignal): void {
  let isBounded = false;
  const look = (): void => {
    if (signal.aborted) return;
    const isLarge = getHeapStatistics().used_heap_size > (isBounded ? SMALL_BYTES : LARGE_BYTES);
    if (isLarge !== isBounded) setFlagsFromString(isLarge ? BOUNDED : UNBOUNDED);
    isBounded = isLarge;
    loop.timer(beatWithin(loop.now(), LOOK_EVERY_MS), "periodic", look);
  };
  look();
}
