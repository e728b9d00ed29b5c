/**
 * A call ends with any of several signals: the caller's own and those of the clients it was made from. Such a signal lives as long as a
 * whole program and has thousands of calls; so they share one listener on it, and leave nothing behind when they are done.
 */
import { Chain, type Link } from "../base/loop/chain.ts";

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

/** Told once when the signal that it follows is aborted. */
export interface Follower {
  abort(reason: unknown): void;
}

/** What somebody who follows a signal leaves it with. */
export type Following = Link<Follower>;

const nothing = (): void => undefined;
const NEVER_ENDED: CallSignal = { signal: undefined, release: nothing };

/** Of a call that only its signals can end. Most have one, which is the call's own then: whoever hears it has to leave it. */
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

/** Until `unfollow`. When the signal is aborted already, the follower is told at once, and nothing comes back. */
export function follow(signal: AbortSignal, follower: Follower): Following | undefined {
  if (!signal.aborted) return followersOf(signal).add(follower);
  follower.abort(signal.reason);
  return undefined;
}

/** Harmless for one that does not follow the signal any more. */
export function unfollow(signal: AbortSignal, following: Following | undefined): void {
  if (following !== undefined) FOLLOWERS.get(signal)?.remove(following);
}

class Followers {
  readonly #signal: AbortSignal;
  readonly #followers = new Chain<Follower>();

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

/** Kept by the signals themselves: what nobody holds any more is forgotten. */
const FOLLOWERS = new WeakMap<AbortSignal, Followers>();

function followersOf(signal: AbortSignal): Followers {
  const known = FOLLOWERS.get(signal);
  if (known !== undefined) return known;
  const followers = new Followers(signal);
  FOLLOWERS.set(signal, followers);
  return followers;
}
