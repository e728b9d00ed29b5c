/**
 * The compiled code of the start. V8 gives up code of functions that did not run between five collections of the whole heap, but a server with little to do
 * has two of them after its start, then none for hours. So for these two code counts as old at once, and what only the start needed, a megabyte and a half,
 * goes with its other garbage. Whatever is called again is compiled again.
 */
import { setFlagsFromString } from "node:v8";
import type { Loop } from "../base/loop.ts";

/** By then the compiled form of the program is kept: it names the flags under which it was made. */
const FROM_MS = 4000;
/** V8 has tidied up after a start 17 seconds later at most. */
const UNTIL_MS = 25_000;

const OLD_AT_ONCE = "--bytecode-old-age=1";
/** As V8 has it by itself. */
const OLD_LATER = "--bytecode-old-age=5";

/** To be called when the server is ready. */
export function forgetStartCode(loop: Loop, signal: AbortSignal): void {
  const at = (afterMs: number, flag: string): void => {
    const timer = loop.timer(loop.now() + afterMs, "periodic", () => setFlagsFromString(flag));
    signal.addEventListener("abort", () => timer.cancel(), { once: true });
  };
  at(FROM_MS, OLD_AT_ONCE);
  at(UNTIL_MS, OLD_LATER);
}
