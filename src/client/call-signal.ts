/**
 * A call ends with any of several signals: the caller's own and those of the clients it was made from. Such a signal lives as long as a
 * whole program and has thousands of calls; so they share one listener on it, and leave nothing behind when they are done.
 */

export interface CallSignal {
  /** Undefined when nothing can end the call. */
  readonly signal: AbortSignal | undefined;
  /** The call is over: nothing is held for it any more. */
  readonly release: () => void;
}

/** Of a call that is also ended by whoever made it, such as a stream that is left. */
export interface EndableSignal extends CallSignal {
  readonly signal: AbortSignal;
  readonly abort: (reason: Error) => void;
  /** Called once, when the call is over. */
  readonly onRelease: (act: () => void) => void;
}

const NOTHING: CallSignal = { signal: undefined, release: () => undefined };

/** Of a call that only its signals can end. */
export function callSignal(signals: readonly AbortSignal[]): CallSignal {
  return signals.length === 0 ? NOTHING : endableSignal(signals);
}

export function endableSignal(signals: readonly AbortSignal[]): EndableSignal {
  const controller = new AbortController();
  const followed = signals.map(followersOf);
  const acts: (() => void)[] = [];
  for (const followers of followed) followers.add(controller);
  return {
    signal: controller.signal,
    release: () => {
      for (const followers of followed) followers.delete(controller);
      for (const act of acts.splice(0)) act();
    },
    abort: (reason) => controller.abort(reason),
    onRelease: (act) => void acts.push(act),
  };
}

class Followers {
  readonly #signal: AbortSignal;
  readonly #controllers = new Set<AbortController>();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  add(controller: AbortController): void {
    if (this.#signal.aborted) return controller.abort(this.#signal.reason);
    if (this.#controllers.size === 0) this.#signal.addEventListener("abort", this.#onAbort);
    this.#controllers.add(controller);
  }

  delete(controller: AbortController): void {
    this.#controllers.delete(controller);
    if (this.#controllers.size === 0) this.#signal.removeEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = (): void => {
    for (const controller of this.#controllers) controller.abort(this.#signal.reason);
    this.#controllers.clear();
  };
}

/** Kept by the signals themselves: what nobody holds any more is forgotten. */
const FOLLOWERS = new WeakMap<AbortSignal, Followers>();

function followersOf(signal: AbortSignal): Followers {
  const known = FOLLOWERS.get(signal);
  if (known !== undefined) return known;
  const followers = new Followers(signal);
  FOLLOWERS.set(signal, followers);
  return followers;
}
