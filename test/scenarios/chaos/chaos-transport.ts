/** Connection of one program to the server: it refuses, loses, delays and repeats by a seed, as long as the test says. */
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

/** Fault settings that all programs of a world share. */
export interface LinkFaults {
  /** One request in this many fails; 0 for none. */
  requestOdds: number;
  /** One batch of a watch in this many breaks or delays it; 0 for none. */
  watchOdds: number;
  /** One message between a server and its shared store in this many is late or lost; 0 for none. */
  storeOdds: number;
  /** Raised to break all open watches. */
  cuts: number;
  /** Number of delayed watches: a program behind one has old data, and may repeat an action many times at one moment. */
  heldUp: number;
}

const FAULTS = ["refused", "lost", "unknown", "slow", "late"] as const;
/** Well below the lease duration: no request of a leader arrives after another has taken over. */
const MAX_DELAY_MS = 4000;
/** A delayed watch catches up before the next delay: one that lags longer than controllers wait proves nothing. */
const BETWEEN_MS = 5000;

export class ChaosTransport implements Transport {
  readonly sharesValues = true;
  /** Nothing leaves any more, as after kill -9. */
  isCut = false;
  readonly #inner: Transport;
  readonly #loop: Loop;
  readonly #random: Random;
  readonly #weather: LinkFaults;

  constructor(inner: Transport, loop: Loop, weather: LinkFaults) {
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
    // Requests sent before the program was killed still arrive.
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

/** As over a network: the reader may retry. */
function broken(): Error {
  return serviceUnavailable("the connection broke", { cause: new Error("broken") });
}

function answerOf(refusal: Status): TransportResponse {
  const retryAfterSeconds = refusal.details?.retryAfterSeconds;
  return { code: refusal.code ?? 500, value: refusal, warnings: [], retryAfterSeconds };
}
