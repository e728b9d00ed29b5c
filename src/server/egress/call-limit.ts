/** Ends a call from this side: its caller cancels it, or its deadline passes. */
import type { Loop } from "../../base/loop/loop.ts";
import type { CutReason } from "./error-text.ts";

export class CallLimit {
  readonly #abort = new AbortController();
  readonly #end: () => void;
  #reason: CutReason | undefined;

  /** Without `timeoutMs` the call has no deadline. */
  constructor(
    loop: Loop,
    { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs?: number },
  ) {
    // Periodic: the loop does not count a deadline as pending work, only the call itself.
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

  /** Reason why the call was cut, if it was. */
  get reason(): CutReason | undefined {
    return this.#reason;
  }

  cut(reason: CutReason): void {
    this.#reason ??= reason;
    this.#abort.abort(new Error(reason));
  }

  /** Callers call this when the call has ended, also after a failure. */
  end(): void {
    this.#end();
  }
}
