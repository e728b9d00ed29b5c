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

/** `abort` is called once, when the signal is aborted. */
export interface AbortListener {
  abort(reason: unknown): void;
}

/** Handle that `removeAbortListener` takes. */
export type AbortRegistration = Link<AbortListener>;

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
  const registrations = signals.map((signal) => addAbortListener(signal, controller));
  return {
    signal: controller.signal,
    release: () => {
      for (const [at, signal] of signals.entries()) removeAbortListener(signal, registrations[at]);
      for (const act of acts.splice(0)) act();
    },
    abort: (reason) => controller.abort(reason),
    onRelease: (act) => void acts.push(act),
  };
}

/**
 * Adds a listener until `removeAbortListener`. If the signal is already aborted, calls the listener at once and returns
 * undefined.
 */
export function addAbortListener(
  signal: AbortSignal,
  listener: AbortListener,
): AbortRegistration | undefined {
  if (!signal.aborted) return listenersOf(signal).add(listener);
  listener.abort(signal.reason);
  return undefined;
}

/** No-op for a listener that has been removed. */
export function removeAbortListener(signal: AbortSignal, registration: AbortRegistration | undefined): void {
  if (registration !== undefined) LISTENERS.get(signal)?.remove(registration);
}

class AbortListeners {
  readonly #signal: AbortSignal;
  readonly #listeners = new LinkedList<AbortListener>();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  add(listener: AbortListener): AbortRegistration {
    if (this.#listeners.length === 0) this.#signal.addEventListener("abort", this.#onAbort);
    return this.#listeners.add(listener);
  }

  remove(registration: AbortRegistration): void {
    if (this.#listeners.remove(registration) === undefined) return;
    if (this.#listeners.length === 0) this.#signal.removeEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = (): void => {
    const listeners = this.#listeners;
    for (let link = listeners.first; link !== undefined; link = listeners.first)
      listeners.remove(link)?.abort(this.#signal.reason);
  };
}

/** Weak, so that entries disappear with their signals. */
const LISTENERS = new WeakMap<AbortSignal, AbortListeners>();

function listenersOf(signal: AbortSignal): AbortListeners {
  const known = LISTENERS.get(signal);
  if (known !== undefined) return known;
  const listeners = new AbortListeners(signal);
  LISTENERS.set(signal, listeners);
  return listeners;
}
