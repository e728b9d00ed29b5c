/**
 * Sets V8 flags that save memory while the heap is large.
 * Heap growth: by default V8 lets the heap grow to four times the live size before it collects. With 10,000 pods on
 * 1,000 nodes the process then takes 600 MB; with growth limited to 70 %, 450 MB. On a small heap the limit would slow
 * watches by a third.
 * Pretenuring: V8 allocates objects as old where most earlier ones at that place survived a collection. In a server
 * these are parts of requests that were in flight. They die soon, but stay, with all they reference, until a full
 * collection.
 * Setting the flags at start would cost 45 ms and 5 MB: V8 rejects code cached under other flags, even Node.js' own.
 */
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import type { Loop } from "../../base/loop/loop.ts";
import { wholeSecondWithin } from "../../base/loop/whole-second.ts";

const LARGE_BYTES = 128 * 1024 * 1024;
/**
 * Threshold at which the flags are reset. Lower than LARGE_BYTES: right after a collection a fast-growing heap looks
 * small, and V8 sets its growth limit only at the next one.
 */
const SMALL_BYTES = 64 * 1024 * 1024;
const LOOK_EVERY_MS = 1000;
const OF_LARGE = ["--heap-growing-percent=70", "--no-allocation-site-pretenuring"];
/** V8's defaults. */
const OF_SMALL = ["--heap-growing-percent=0", "--allocation-site-pretenuring"];

/** Checks the heap every second until the signal aborts. */
export function watchHeapGrowth(loop: Loop, signal: AbortSignal): void {
  let wasLarge = false;
  const look = (): void => {
    if (signal.aborted) return;
    const isLarge = getHeapStatistics().used_heap_size > (wasLarge ? SMALL_BYTES : LARGE_BYTES);
    if (isLarge !== wasLarge) for (const flag of isLarge ? OF_LARGE : OF_SMALL) setFlagsFromString(flag);
    wasLarge = isLarge;
    loop.timer(wholeSecondWithin(loop.now(), LOOK_EVERY_MS), "periodic", look);
  };
  look();
}
