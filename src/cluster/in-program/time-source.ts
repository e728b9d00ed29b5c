/** Time source of a cluster in a program: the machine's clock, or a virtual clock that advances only while a caller waits. */
import type { Loop, Timer } from "../../base/loop/loop.ts";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import type { RunBounds } from "../../base/loop/virtual/virtual-loop.ts";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import type { Transport } from "../../client/transport.ts";
import { drivenLoop, drivenTransport } from "./driven-transport.ts";
import { VirtualDriver } from "./virtual-driver.ts";

export interface TimeSource {
  readonly loop: Loop;
  readonly isVirtual: boolean;
  /** Wraps a transport for callers outside the cluster: awaiting a response runs a virtual loop. */
  outsider(transport: Transport): Transport;
  /** Wraps a loop for callers outside the cluster: waiting for a timer runs a virtual loop. */
  outsiderLoop(loop: Loop): Loop;
  /** Settles like the promise; a virtual loop runs until then. */
  drive<T>(promise: Promise<T>): Promise<T>;
  /**
   * Waits for a promise that should end by now. Returns an error that names the obstacle if a virtual loop can never
   * settle it.
   */
  end(promise: Promise<unknown>): Promise<Error | undefined>;
  /** Runs a virtual loop until pending requests have been rejected. Never rejects: anything still busy after that is abandoned. */
  rest(): Promise<void>;
  /** Allows work outside the cluster (sockets, compression) from now on. */
  letOutsideIn(): void;
  /** Forgets the work in flight of a loop that was killed. */
  abandon(loop: Loop): void;
  settle(bounds: RunBounds): Promise<void>;
  advance(ms: number): Promise<void>;
  /** `changed` registers a listener for each change that can affect the predicate, and returns the function that removes it. */
  until(predicate: () => boolean, changed: Changed, bounds: UntilBounds): Promise<void>;
  /** A source of the same kind that continues from now; the same `point` gives the same source. */
  fork(point: number): TimeSource;
}

/** Interval at which `until` evaluates its predicate on the machine's clock, beside each change. */
const POLL_MS = 20;

/** In virtual time; longer than the retry interval of a client that has seen the end. */
const REST_MS = 60_000;

/** Upper bound of the wait, and text that the error adds. */
export type UntilBounds = Required<Pick<RunBounds, "limitMs" | "why">>;

export type Changed = (listener: () => void) => () => void;

export class VirtualTime implements TimeSource {
  readonly loop: VirtualLoop;
  readonly isVirtual = true;
  readonly #driver: VirtualDriver;

  constructor(options: { readonly seed: number; readonly startAt?: number }) {
    this.loop = new VirtualLoop({ ...options, name: "cluster" });
    this.#driver = new VirtualDriver(this.loop);
  }

  outsider(transport: Transport): Transport {
    return drivenTransport(transport, this.#driver);
  }

  outsiderLoop(loop: Loop): Loop {
    return drivenLoop(loop, this.#driver);
  }

  drive<T>(promise: Promise<T>): Promise<T> {
    return this.#driver.drive(promise);
  }

  end(promise: Promise<unknown>): Promise<Error | undefined> {
    return this.#driver.end(promise);
  }

  async rest(): Promise<void> {
    await Promise.allSettled([this.#driver.until(() => this.loop.isQuiet, { limitMs: REST_MS })]);
  }

  letOutsideIn(): void {
    this.loop.declareOutside();
  }

  abandon({ actor }: Loop): void {
    this.loop.abandon(actor);
  }

  settle(bounds: RunBounds): Promise<void> {
    return this.#driver.settle(bounds);
  }

  advance(ms: number): Promise<void> {
    return this.#driver.advance(ms);
  }

  until(predicate: () => boolean, _changed: Changed, bounds: UntilBounds): Promise<void> {
    return this.#driver.until(predicate, bounds);
  }

  /** Random streams get a new seed, so that names and uids of the original do not occur again. */
  fork(point: number): VirtualTime {
    const seed = (Math.imul(this.loop.seed ^ point, 0x9e3779b1) ^ (this.loop.seed >>> 7)) >>> 0;
    return new VirtualTime({ seed, startAt: this.loop.now() });
  }
}

export class RealTime implements TimeSource {
  readonly loop: Loop;
  readonly isVirtual = false;

  constructor() {
    this.loop = createRealLoop({ name: "cluster" });
  }

  outsider(transport: Transport): Transport {
    return transport;
  }

  outsiderLoop(loop: Loop): Loop {
    return loop;
  }

  drive<T>(promise: Promise<T>): Promise<T> {
    return promise;
  }

  async end(promise: Promise<unknown>): Promise<undefined> {
    await Promise.allSettled([promise]);
  }

  rest(): Promise<void> {
    return Promise.resolve();
  }

  letOutsideIn(): void {
    // The machine's clock always allows it.
  }

  abandon(): void {
    // The machine's clock does not wait for work in flight.
  }

  settle(): Promise<void> {
    return Promise.reject(onlyVirtual("settle"));
  }

  advance(): Promise<void> {
    return Promise.reject(onlyVirtual("clock.advance"));
  }

  until(predicate: () => boolean, changed: Changed, { limitMs, why }: UntilBounds): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        leave();
        timer.cancel();
        settle();
      };
      // The predicate may also read the program's own state, whose changes send no event.
      const poll = (): Timer => this.loop.timer(this.loop.now() + POLL_MS, "progress", look);
      const look = (): void => {
        polling.cancel();
        polling = poll();
        try {
          if (predicate()) end(resolve);
        } catch (error) {
          end(() => reject(error as Error));
        }
      };
      const late = (): Error => new Error(`the predicate does not hold after ${String(limitMs)} ms${why()}`);
      const timer = this.loop.timer(this.loop.now() + limitMs, "progress", () => end(() => reject(late())));
      let polling = poll();
      const stopListening = changed(look);
      const leave = (): void => {
        stopListening();
        polling.cancel();
      };
      look();
    });
  }

  fork(): RealTime {
    return new RealTime();
  }
}

function onlyVirtual(what: string): Error {
  return new Error(
    `${what}() needs a virtual clock: start the cluster with { clock: "virtual" }, or wait with until()`,
  );
}
