/** When a call ends from this side: its caller wants it no more, or its time is over. */
import type { Loop } from "../../base/loop/loop.ts";
import type { CutReason } from "./error-text.ts";

export class CallLimit {
  readonly #abort = new AbortController();
  readonly #end: () => void;
  #reason: CutReason | undefined;

  /** Without a time it lasts for as long as the caller likes. */
  constructor(
    loop: Loop,
    { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs?: number },
  ) {
    // Periodic: a deadline is no work that is left to do, only its call is.
    const timer =
      timeoutMs === undefined
        ? undefined
        : loop.timer(loop.now() + timeoutMs, "periodic", () => this.cut("deadline"));
    const cancel = (): void => this.cut("canceled");
    this.#end = () => {
      timer?.cancel();
      signal.removeEventListener("abort", cancel);
    };
    signal.addEventListener("abort", cancel, { once: true });
    if (signal.aborted) cancel();
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Why it was ended, if it was. */
  get reason(): CutReason | undefined {
    return this.#reason;
  }

  cut(reason: CutReason): void {
    this.#reason ??= reason;
    this.#abort.abort(new Error(reason));
  }

  /** To be called when the call is over, whatever came of it. */
  end(): void {
    this.#end();
  }
}
