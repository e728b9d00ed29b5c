/** The way of one program to the server: it refuses, loses, delays and repeats as a seed says, for as long as it is told to. */
import {
  conflict,
  internalError,
  serviceUnavailable,
  toStatus,
  tooManyRequests,
} from "../../../src/api/errors/api-error.ts";
import type { Status } from "../../../src/api/errors/api-error.ts";
import type { Loop, Random } from "../../../src/base/loop/loop.ts";
import type {
  Transport,
  TransportEvent,
  TransportRequest,
  TransportResponse,
  TransportStream,
} from "../../../src/client/transport.ts";

/** What all programs of a world have in common. */
export interface Weather {
  /** One request in so many fails; 0 for none. */
  requestOdds: number;
  /** One batch of a watch in so many breaks it or is held up; 0 for none. */
  watchOdds: number;
  /** One message between a server and a store that it shares is late or lost in so many; 0 for none. */
  storeOdds: number;
  /** Raised to break all watches that are open. */
  cuts: number;
  /** How many watches are held up: whoever follows one knows less than others, and may do the same thing again and again in no time. */
  heldUp: number;
}

const FAULTS = ["refused", "lost", "unknown", "slow", "late"] as const;
/** Well below what a lease lasts: nothing of a leader arrives after another has taken over. */
const MAX_DELAY_MS = 4000;
/** A watch that was held up catches up before it is again: one that is behind for longer than loops wait for it proves nothing. */
const BETWEEN_MS = 5000;

export class ChaosTransport implements Transport {
  readonly sharesValues = true;
  /** Nothing leaves any more, as after kill -9. */
  isCut = false;
  readonly #inner: Transport;
  readonly #loop: Loop;
  readonly #random: Random;
  readonly #weather: Weather;

  constructor(inner: Transport, loop: Loop, weather: Weather) {
    this.#inner = inner;
    this.#loop = loop;
    this.#random = loop.random("faults");
    this.#weather = weather;
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    this.#assertUncut();
    if (!this.#strikes(this.#weather.requestOdds)) return await this.#answered(request);
    const fault = FAULTS[this.#random.below(FAULTS.length)];
    if (fault === "lost") throw broken();
    if (fault === "refused") return answerOf(this.#refusal(request));
    if (fault === "slow") await this.#delay();
    // What had left before the program was killed arrives all the same.
    const response = await this.#inner.send(request);
    if (fault === "unknown") throw broken();
    if (fault === "late") await this.#delay();
    this.#assertUncut();
    return response;
  }

  async watch(request: TransportRequest): Promise<TransportStream<readonly TransportEvent[]>> {
    this.#assertUncut();
    if (this.#strikes(this.#weather.requestOdds)) throw broken();
    const stream = await this.#inner.watch(request);
    return { ...stream, items: this.#disturbed(stream.items) };
  }

  read(request: TransportRequest): Promise<TransportStream<Uint8Array>> {
    return this.#inner.read(request);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  async #answered(request: TransportRequest): Promise<TransportResponse> {
    const response = await this.#inner.send(request);
    this.#assertUncut();
    return response;
  }

  async *#disturbed(
    items: AsyncIterable<readonly TransportEvent[]>,
  ): AsyncGenerator<readonly TransportEvent[]> {
    const { cuts } = this.#weather;
    let heldUpAt = -Infinity;
    for await (const batch of items) {
      const isStruck = this.#strikes(this.#weather.watchOdds);
      const isHeldUp = isStruck && this.#random.below(2) === 0;
      if (isStruck && !isHeldUp) throw broken();
      if (isHeldUp && this.#loop.elapsed() > heldUpAt + BETWEEN_MS) {
        await this.#heldUp();
        heldUpAt = this.#loop.elapsed();
      }
      this.#assertUncut();
      if (this.#weather.cuts !== cuts) throw broken();
      yield batch;
    }
  }

  #assertUncut(): void {
    if (this.isCut) throw serviceUnavailable("the program was killed");
  }

  #strikes(odds: number): boolean {
    return odds > 0 && this.#random.below(odds) === 0;
  }

  #refusal({ method, path }: TransportRequest): Status {
    const errors = [tooManyRequests("later", 1), internalError(new Error("broken"))];
    if (method === "PUT" || method === "PATCH")
      errors.push(conflict({ group: "", resource: "things" }, path));
    return toStatus(errors[this.#random.below(errors.length)]);
  }

  async #heldUp(): Promise<void> {
    this.#weather.heldUp++;
    await this.#delay();
    this.#weather.heldUp--;
  }

  #delay(): Promise<void> {
    const at = this.#loop.now() + this.#random.below(MAX_DELAY_MS);
    return new Promise((resolve) => void this.#loop.timer(at, "progress", resolve));
  }
}

/** As over a network: whoever reads may try again. */
function broken(): Error {
  return serviceUnavailable("the connection broke", { cause: new Error("broken") });
}

function answerOf(refusal: Status): TransportResponse {
  const retryAfterSeconds = refusal.details?.retryAfterSeconds;
  return { code: refusal.code ?? 500, value: refusal, warnings: [], retryAfterSeconds };
}
