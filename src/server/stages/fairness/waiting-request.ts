/** A request that waits for its seats until it gets them, times out, or its client disconnects. */
import type { Loop, Timer } from "../../../base/loop/loop.ts";
import type { Exchange } from "../../request/exchange.ts";
import type { FlowMeter } from "./flow-metrics.ts";
import type { Refusal, Waiter, WaiterDetails } from "./priority-level.ts";

export interface WaitingOptions {
  readonly loop: Loop;
  readonly exchange: Exchange;
  readonly userName: string;
  readonly schemaName: string;
  readonly distinguisher: string;
  readonly seats: number;
  readonly meter: FlowMeter;
  readonly waitMs: number;
  /** Called as a step of the loop. */
  readonly onSeated: (end: () => void) => void;
  readonly onRefused: (reason: Refusal) => void;
}

type WaitingState = "new" | "waiting" | "seated" | "refused";

export class WaitingRequest implements Waiter {
  readonly seats: number;
  readonly schemaName: string;
  readonly distinguisher: string;
  readonly arrivedAt: number;
  readonly #options: WaitingOptions;
  readonly #startedAt: number;
  #state: WaitingState = "new";
  #late: Timer | undefined;
  readonly #onLeft = (): void => this.refuse("cancelled");

  constructor(options: WaitingOptions) {
    const { seats, schemaName, distinguisher, loop } = options;
    this.#options = options;
    this.seats = seats;
    this.schemaName = schemaName;
    this.distinguisher = distinguisher;
    this.arrivedAt = loop.now();
    this.#startedAt = loop.elapsed();
  }

  get about(): WaiterDetails {
    const { exchange, userName } = this.#options;
    return detailsOf(exchange, userName);
  }

  /** Starts the wait, once the request is in its queue. */
  begin(): void {
    const { loop, meter, waitMs } = this.#options;
    this.#state = "waiting";
    meter.waiting += 1;
    this.#late = loop.timer(loop.now() + waitMs, "periodic", () => this.refuse("time-out"));
    const { signal } = this.#options.exchange.request;
    signal.addEventListener("abort", this.#onLeft, { once: true });
    if (signal.aborted) this.refuse("cancelled");
  }

  grant(end: () => void): void {
    const { loop, meter, onSeated } = this.#options;
    this.#end("seated");
    meter.waited.observe(this.#waitedMs / 1000);
    // A separate step, so that the end of one request does not run all its successors at once.
    loop.post("request", () => onSeated(end));
  }

  /** A no-op once seated or refused. */
  refuse(reason: Refusal): void {
    if (this.#state === "seated" || this.#state === "refused") return;
    this.#end("refused");
    this.#options.meter.reject(reason, this.#waitedMs);
    this.#options.onRefused(reason);
  }

  #end(state: "seated" | "refused"): void {
    if (this.#state === "waiting") this.#options.meter.waiting -= 1;
    this.#state = state;
    this.#late?.cancel();
    this.#options.exchange.request.signal.removeEventListener("abort", this.#onLeft);
  }

  get #waitedMs(): number {
    return this.#options.loop.elapsed() - this.#startedAt;
  }
}

function detailsOf({ info }: Exchange, user: string): WaiterDetails {
  const { path } = info;
  if (info.type === "other") {
    const { verb } = info;
    return { user, verb, path, namespace: "", name: "", apiVersion: "", resource: "", subresource: "" };
  }
  const { verb, group, version, namespace, name, resource, subresource } = info;
  const apiVersion = group === "" ? version : `${group}/${version}`;
  return { user, verb, path, namespace, name, apiVersion, resource, subresource };
}
