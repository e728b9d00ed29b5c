/** A transport that fails in all ways in which networks and servers fail, by a seed, until it is healed. */
import type { Status } from "../../src/api/errors/api-error.ts";
import {
  expired,
  internalError,
  toStatus,
  tooManyRequests,
  unauthorized,
} from "../../src/api/errors/api-error.ts";
import type { Loop, Random } from "../../src/base/loop/loop.ts";
import type {
  Transport,
  TransportEvent,
  TransportRequest,
  TransportResponse,
  TransportStream,
} from "../../src/client/transport.ts";

type Fault =
  /** No response arrives, or the stream breaks between two batches. */
  | "break"
  /** The stream breaks within a batch. */
  | "tear"
  /** The stream goes silent without an error. */
  | "silence"
  | "refuse"
  /** An error as an event of the stream. */
  | "error"
  | "delay"
  /** An earlier event arrives again, after a later change. */
  | "repeat"
  /** The state as it was some time ago. */
  | "stale"
  /** The server ends the stream properly. */
  | "end";

/** One request in this many fails. */
const REQUEST_ODDS = 3;
const BATCH_ODDS = 6;
const OPENING_FAULTS = ["break", "silence", "refuse", "delay"] as const;
const LISTING_FAULTS = [...OPENING_FAULTS, "stale"] as const;
const BATCH_FAULTS = ["break", "tear", "silence", "error", "delay", "repeat", "end"] as const;
const MAX_DELAY_MS = 5000;

export class FaultTransport implements Transport {
  readonly sharesValues = true;
  readonly counts = new Map<Fault, number>();
  isHealed = false;
  readonly #server: Transport;
  readonly #loop: Loop;
  readonly #random: Random;
  readonly #oldLists: TransportResponse[] = [];
  readonly #oldStates: (readonly TransportEvent[])[] = [];
  readonly #oldBatches: (readonly TransportEvent[])[] = [];

  constructor(server: Transport, loop: Loop) {
    this.#server = server;
    this.#loop = loop;
    this.#random = loop.random("faults");
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    const fault = await this.#opening(request, LISTING_FAULTS);
    const refusal = fault === "refuse" ? this.#refusal() : undefined;
    if (refusal !== undefined) return { code: refusal.code ?? 500, value: refusal, warnings: [] };
    const old = fault === "stale" ? this.#one(this.#oldLists) : undefined;
    if (old !== undefined) return old;
    const response = await this.#server.send(request);
    this.#oldLists.push(response);
    return response;
  }

  async watch(request: TransportRequest): Promise<TransportStream<readonly TransportEvent[]>> {
    const isInitial = request.query?.["sendInitialEvents"] === "true";
    const fault = await this.#opening(request, isInitial ? LISTING_FAULTS : OPENING_FAULTS);
    const refusal = fault === "refuse" ? this.#refusal() : undefined;
    if (refusal !== undefined)
      return { code: refusal.code ?? 500, refusal, items: nothing(), retryAfterSeconds: 1 };
    const old = fault === "stale" ? this.#one(this.#oldStates) : undefined;
    if (old !== undefined) return { code: 200, refusal: undefined, items: this.#stale(old, request) };
    const stream = await this.#server.watch(request);
    return { ...stream, items: this.#faulty(stream.items, request, isInitial) };
  }

  read(request: TransportRequest): Promise<TransportStream<Uint8Array>> {
    return this.#server.read(request);
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  /** Fault of a request before its response; the sender handles the rest. */
  async #opening(request: TransportRequest, faults: readonly Fault[]): Promise<Fault | undefined> {
    const fault = this.#fault(REQUEST_ODDS, faults);
    if (fault === "break") throw new Error("the connection broke");
    if (fault === "delay") await this.#delay();
    if (fault === "silence") {
      await aborted(request);
      throw request.signal?.reason;
    }
    return fault;
  }

  async *#faulty(
    items: AsyncIterable<readonly TransportEvent[]>,
    request: TransportRequest,
    isInitial: boolean,
  ): AsyncGenerator<readonly TransportEvent[]> {
    let isFirst = isInitial;
    for await (const batch of items) {
      (isFirst ? this.#oldStates : this.#oldBatches).push(batch);
      const fault = this.#fault(BATCH_ODDS, BATCH_FAULTS);
      if (fault === "delay") await this.#delay();
      yield* this.#pieces(fault, batch, isFirst);
      if (fault === "break" || fault === "tear") throw new Error("the connection broke");
      if (fault === "silence") await aborted(request);
      if (fault === "silence" || fault === "error" || fault === "end") return;
      isFirst = false;
    }
  }

  *#pieces(
    fault: Fault | undefined,
    batch: readonly TransportEvent[],
    isFirst: boolean,
  ): Generator<readonly TransportEvent[]> {
    const old = fault === "repeat" && !isFirst ? this.#one(this.#oldBatches) : undefined;
    if (old !== undefined) yield old;
    if (fault === "tear") yield batch.slice(0, this.#random.below(batch.length));
    if (fault === "error") {
      const part = batch.slice(0, this.#random.below(batch.length + 1));
      yield [...part, { type: "ERROR", object: this.#refusal() }];
    }
    if (fault === undefined || fault === "delay" || fault === "repeat") yield batch;
  }

  async *#stale(
    old: readonly TransportEvent[],
    request: TransportRequest,
  ): AsyncGenerator<readonly TransportEvent[]> {
    await this.#delay();
    yield old;
    await aborted(request);
  }

  #fault(odds: number, possible: readonly Fault[]): Fault | undefined {
    if (this.isHealed || this.#random.below(odds) > 0) return undefined;
    const fault = this.#one(possible);
    if (fault !== undefined) this.counts.set(fault, (this.counts.get(fault) ?? 0) + 1);
    return fault;
  }

  #one<T>(all: readonly T[]): T | undefined {
    return all[this.#random.below(Math.max(1, all.length))];
  }

  #refusal(): Status {
    const errors = [
      expired("too old resource version"),
      tooManyRequests("later", 2),
      internalError(new Error("broken")),
      unauthorized(),
    ];
    return toStatus(this.#one(errors));
  }

  #delay(): Promise<void> {
    const at = this.#loop.now() + this.#random.below(MAX_DELAY_MS);
    return new Promise((resolve) => void this.#loop.timer(at, "progress", resolve));
  }
}

function aborted({ signal }: TransportRequest): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) resolve();
    else signal?.addEventListener("abort", () => resolve(), { once: true });
  });
}

async function* nothing(): AsyncGenerator<never> {}
