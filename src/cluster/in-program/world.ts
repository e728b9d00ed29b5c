/** On what a cluster in a program runs: the machine's time, or a world of its own whose time stands still until somebody waits. */
import type { Loop } from "../../base/loop/loop.ts";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import type { RunBounds } from "../../base/loop/virtual/virtual-loop.ts";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import type { Transport } from "../../client/transport.ts";
import { drivenLoop, drivenTransport } from "./driven-transport.ts";
import { VirtualDriver } from "./virtual-driver.ts";

export interface World {
  readonly loop: Loop;
  readonly isVirtual: boolean;
  /** For whoever is no actor of the world. */
  outsider(transport: Transport): Transport;
  /** The same for what it waits for besides answers. */
  outsiderLoop(loop: Loop): Loop;
  /** Settles as the promise does; a world that stands still runs for as long as that takes. */
  drive<T>(promise: Promise<T>): Promise<T>;
  /** Lets what should end by now do so. Answers what it waits for in vain when that can be known: then it never ends. */
  end(promise: Promise<unknown>): Promise<Error | undefined>;
  /** Lets whoever still waits for an answer hear of the end. Never rejects: what does not come to rest then is nobody's any more. */
  rest(): Promise<void>;
  /** From now on work outside of the world (sockets, compression) may happen in it. */
  letOutsideIn(): void;
  settle(bounds: RunBounds): Promise<void>;
  advance(ms: number): Promise<void>;
  /** `changed` calls its listener after each change of what the predicate looks at, until the function that comes back is called. */
  until(predicate: () => boolean, changed: Changed, bounds: UntilBounds): Promise<void>;
  /** A world of the same kind that goes on from here, the same way each time it is asked for at the same point. */
  fork(point: number): World;
}

/** Of virtual time; longer than what a client that is told of the end waits before it tries again. */
const REST_MS = 60_000;

/** How long, and what the error says besides. */
export type UntilBounds = Required<Pick<RunBounds, "limitMs" | "why">>;

export type Changed = (listener: () => void) => () => void;

export class VirtualWorld implements World {
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

  settle(bounds: RunBounds): Promise<void> {
    return this.#driver.settle(bounds);
  }

  advance(ms: number): Promise<void> {
    return this.#driver.advance(ms);
  }

  until(predicate: () => boolean, _changed: Changed, bounds: UntilBounds): Promise<void> {
    return this.#driver.until(predicate, bounds);
  }

  /** The streams begin anew with another seed: what the old ones gave (names, uids) must not come again. */
  fork(point: number): VirtualWorld {
    const seed = (Math.imul(this.loop.seed ^ point, 0x9e3779b1) ^ (this.loop.seed >>> 7)) >>> 0;
    return new VirtualWorld({ seed, startAt: this.loop.now() });
  }
}

export class RealWorld implements World {
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
    // It always may.
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
      const look = (): void => {
        try {
          if (predicate()) end(resolve);
        } catch (error) {
          end(() => reject(error as Error));
        }
      };
      const late = (): Error => new Error(`the predicate does not hold after ${String(limitMs)} ms${why()}`);
      const timer = this.loop.timer(this.loop.now() + limitMs, "progress", () => end(() => reject(late())));
      const leave = changed(look);
      look();
    });
  }

  fork(): RealWorld {
    return new RealWorld();
  }
}

function onlyVirtual(what: string): Error {
  return new Error(
    `${what}() needs a virtual clock: start the cluster with { clock: "virtual" }, or wait with until()`,
  );
}
