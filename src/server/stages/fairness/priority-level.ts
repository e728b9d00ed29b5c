/** A priority level: its seats, the requests that hold them and the requests that wait. */
import type { PriorityLevelConfigurationSpec } from "../../../api/generated/types/flowcontrol-v1.ts";
import { FairQueues } from "./fair-queues.ts";
import type { FairQueue, QueueLimits, Dispatched } from "./fair-queues.ts";
import type { SeatLimits } from "./seat-limits.ts";

/** Waiting requests of a level in all queues: each holds a connection and memory. */
const WAITING_MAX = 5000;

/** A request that waits for seats. */
export interface Waiter {
  readonly seats: number;
  readonly schemaName: string;
  readonly distinguisher: string;
  /** Milliseconds since the epoch. */
  readonly arrivedAt: number;
  /** Details for the debug endpoint. */
  readonly about: WaiterDetails;
  /** Grants the seats; `end` is called once when the request needs them no longer. */
  grant(end: () => void): void;
}

export interface WaiterDetails {
  readonly user: string;
  readonly verb: string;
  readonly path: string;
  readonly namespace: string;
  readonly name: string;
  readonly apiVersion: string;
  readonly resource: string;
  readonly subresource: string;
}

export type Refusal = "concurrency-limit" | "queue-full" | "time-out" | "cancelled";

export class PriorityLevel {
  readonly name: string;
  uid = "";
  isExempt = false;
  limits: SeatLimits = { nominal: 0, lendable: 0, borrowable: 0 };
  /** Removed from the configuration; dropped after its last request. */
  isQuiescing = false;
  seatsInUse = 0;
  executing = 0;
  /** Total since the start, for the debug endpoint. */
  dispatched = 0;
  readonly refused: Record<Refusal, number> = {
    "concurrency-limit": 0,
    "queue-full": 0,
    "time-out": 0,
    cancelled: 0,
  };
  /** Undefined where requests without a seat are refused. */
  #queues: FairQueues<Waiter> | undefined;
  #isQueuing = false;

  readonly #now: () => number;

  /** `now` returns monotonic milliseconds. */
  constructor(name: string, now: () => number) {
    this.name = name;
    this.#now = now;
  }

  /** Applies to new requests; running and waiting ones continue. */
  configure(spec: PriorityLevelConfigurationSpec, uid: string, limits: SeatLimits): void {
    this.uid = uid;
    this.limits = limits;
    this.isQuiescing = false;
    this.isExempt = spec.type === "Exempt";
    const queuing = queuingOf(spec);
    this.#isQueuing = queuing !== undefined;
    if (queuing === undefined) return;
    if (this.#queues === undefined) this.#queues = new FairQueues(queuing, this.#now);
    else this.#queues.change(queuing);
  }

  get waiting(): number {
    return this.#queues?.waiting ?? 0;
  }

  get waitingSeats(): number {
    return this.#queues?.waitingSeats ?? 0;
  }

  get isIdle(): boolean {
    return this.executing === 0 && this.waiting === 0;
  }

  /** Queues in use. */
  get queues(): readonly FairQueue<Waiter>[] {
    return this.#queues?.active ?? [];
  }

  get queueCount(): number {
    return this.#isQueuing ? (this.#queues?.limits.queues ?? 0) : 0;
  }

  /** Undefined when the request was queued. */
  enqueue(flow: string, waiter: Waiter): Refusal | undefined {
    if (!this.#isQueuing || this.#queues === undefined) return "concurrency-limit";
    if (this.#queues.waiting >= WAITING_MAX || !this.#queues.add(flow, waiter)) return "queue-full";
    return undefined;
  }

  giveUp(waiter: Waiter): void {
    this.#queues?.remove(waiter);
  }

  /** Takes seats. The caller checks that they are free. */
  enter(seats: number): void {
    this.seatsInUse += seats;
    this.executing += 1;
    this.dispatched += 1;
  }

  leave(seats: number): void {
    this.seatsInUse -= seats;
    this.executing -= 1;
  }

  next(hasRoom: (waiter: Waiter) => boolean): Dispatched<Waiter> | undefined {
    return this.#queues?.take(hasRoom);
  }
}

function queuingOf({ limited }: PriorityLevelConfigurationSpec): QueueLimits | undefined {
  return limited?.limitResponse.type === "Queue" ? limited.limitResponse.queuing : undefined;
}
