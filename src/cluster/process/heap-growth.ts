/**
 * What V8 is told while the heap of a server is large.
 *
 * How much old garbage lies about: V8 waits with collecting it until the heap has grown to up to four times what was in use; with 10,000 pods on 1,000 nodes the
 * process takes 600 MB then, and 450 when it may grow by 70 % only. A small heap would be collected all the time: watches of a small cluster would be a third slower.
 *
 * What is born old: V8 makes objects old at once where most of those made at the same place outlived a collection. Of a server these are parts of requests that
 * happened to be under way. They die soon all the same, but that is found out only when everything is collected, and until then what they point to is kept with
 * them. Told to every server from its start it would cost 45 ms and 5 MB, for V8 takes no compiled code that was made with other flags, not even Node.js' own.
 */
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import type { Loop } from "../../base/loop/loop.ts";
import { wholeSecondWithin } from "../../base/loop/whole-second.ts";

const LARGE_BYTES = 128 * 1024 * 1024;
/** Right after a collection a heap that grows quickly looks small, while with the next one V8 settles how far it may grow from there. */
const SMALL_BYTES = 64 * 1024 * 1024;
const LOOK_EVERY_MS = 1000;
const OF_LARGE = ["--heap-growing-percent=70", "--no-allocation-site-pretenuring"];
/** V8 decides. */
const OF_SMALL = ["--heap-growing-percent=0", "--allocation-site-pretenuring"];

/** Until the signal is aborted. */
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
