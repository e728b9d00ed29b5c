/**
 * Signals of calls. A call ends with any of several signals: the caller's own, and those of the clients it was made
 * from. Such a signal may live as long as the program and serve thousands of calls. So all calls share one listener
 * on it and remove themselves when done.
 */
import { LinkedList, type Link } from "../base/loop/linked-list.ts";

export interface CallSignal {
  /** Undefined when nothing can abort the call. */
  readonly signal: AbortSignal | undefined;
  /** Must be called when the call is over: detaches it from its signals. */
  readonly release: () => void;
}

/** Signal of a call that its owner can abort too, for example a stream that is closed early. */
export interface EndableSignal extends CallSignal {
  readonly signal: AbortSignal;
  readonly abort: (reason: Error) => void;
  /** The callback runs once, when the call is over. */
  readonly onRelease: (act: () => void) => void;
}

/** `abort` is called once, when the followed signal is aborted. */
export interface Follower {
  abort(reason: unknown): void;
}

/** Handle that `unfollow` takes. */
export type Following = Link<Follower>;

const nothing = (): void => undefined;
const NEVER_ENDED: CallSignal = { signal: undefined, release: nothing };

/**
 * Signal of a call that only its signals can abort. A single signal is returned itself: remove every listener added
 * to it.
 */
export function callSignal(signals: readonly AbortSignal[]): CallSignal {
  if (signals.length > 1) return endableSignal(signals);
  const [signal] = signals;
  return signal === undefined ? NEVER_ENDED : { signal, release: nothing };
}

export function endableSignal(signals: readonly AbortSignal[]): EndableSignal {
  const controller = new AbortController();
  const acts: (() => void)[] = [];
  const followings = signals.map((signal) => follow(signal, controller));
  return {
    signal: controller.signal,
    release: () => {
      for (const [at, signal] of signals.entries()) unfollow(signal, followings[at]);
      for (const act of acts.splice(0)) act();
    },
    abort: (reason) => controller.abort(reason),
    onRelease: (act) => void acts.push(act),
  };
}

/**
 * Follows the signal until `unfollow`. When it is aborted already, the follower is called at once and the result is
 * undefined.
 */
export function follow(signal: AbortSignal, follower: Follower): Following | undefined {
  if (!signal.aborted) return followersOf(signal).add(follower);
  follower.abort(signal.reason);
  return undefined;
}

/** No-op for a follower that has been removed. */
export function unfollow(signal: AbortSignal, following: Following | undefined): void {
  if (following !== undefined) FOLLOWERS.get(signal)?.remove(following);
}

class Followers {
  readonly #signal: AbortSignal;
  readonly #followers = new LinkedList<Follower>();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  add(follower: Follower): Following {
    if (this.#followers.length === 0) this.#signal.addEventListener("abort", this.#onAbort);
    return this.#followers.add(follower);
  }

  remove(following: Following): void {
    if (this.#followers.remove(following) === undefined) return;
    if (this.#followers.length === 0) this.#signal.removeEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = (): void => {
    const followers = this.#followers;
    for (let link = followers.first; link !== undefined; link = followers.first)
      followers.remove(link)?.abort(this.#signal.reason);
  };
}

/** Weak, so that entries disappear with their signals. */
const FOLLOWERS = new WeakMap<AbortSignal, Followers>();

function followersOf(signal: AbortSignal): Followers {
  const known = FOLLOWERS.get(signal);
  if (known !== undefined) return known;
  const followers = new Followers(signal);
  FOLLOWERS.set(signal, followers);
  return followers;
}
