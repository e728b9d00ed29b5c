/**
 * The queue of requests that wait for the server's thread, served in rounds. Each verified user owns a line; all
 * unverified clients together are one more owner. Their requests alternate between addresses, and within an address
 * between connections. So unverified properties of a request give a client no larger share, and cost a verified user
 * one request a round. A lone owner gets several requests served at once, so that concurrent writes are stored together.
 *
 * Urgent requests have a queue of their own that goes first, so those of each owner are bounded.
 */
import { RoundRobin } from "../../base/collections/round-robin.ts";
import { Fifo } from "../../base/loop/loop-fifo.ts";
import type { Lane, Loop } from "../../base/loop/loop.ts";
import type { QueueOwner } from "./queue-owner.ts";
import { UrgentBudget } from "./urgent-budget.ts";

/** Requests served together while no other owner waits: upper bound of the wait of another owner's request. */
const ALONE_MAX = 16;
/** After this time no further request joins a batch, because its responses wait meanwhile. */
const TOGETHER_MS = 2;
/** Waiting requests of all owners together. Each holds its headers. */
const WAITING_MAX = 10_000;

/** A request that waits in the queue. No method throws. */
export interface QueuedRequest {
  readonly method: string;
  readonly target: string;
  /** Does the work; asynchronous parts may end later. */
  run(): void;
  /**
   * Sends the response if it is ready. Called once the whole batch has run: repeating one kind of work is faster than
   * alternating two.
   */
  respond(): void;
  /** Refuses the request because too many wait. Called instead of the other two, possibly during `push`. */
  refuse(): void;
}

/** Tells which requests go before all others. `user` is undefined while the client is not verified. */
export type UrgencyRule = (
  request: Pick<QueuedRequest, "method" | "target"> & Pick<QueueOwner, "user">,
) => boolean;

type Clock = Pick<Loop, "elapsed" | "post">;

export interface RequestQueueOptions {
  readonly loop: Clock;
  readonly isUrgent: UrgencyRule;
  readonly maxWaiting?: number;
}

export class RequestQueue {
  readonly #loop: Clock;
  readonly #isUrgent: UrgencyRule;
  readonly #budget: UrgentBudget;
  readonly #urgent: LaneQueue;
  readonly #ordinary: LaneQueue;

  constructor({ loop, isUrgent, maxWaiting = WAITING_MAX }: RequestQueueOptions) {
    this.#loop = loop;
    this.#isUrgent = isUrgent;
    this.#budget = new UrgentBudget(loop.elapsed());
    this.#urgent = new LaneQueue({ loop, lane: "health", maxWaiting });
    this.#ordinary = new LaneQueue({ loop, lane: "request", maxWaiting });
  }

  /** Serves the request later, never synchronously. Requests of one owner in one lane keep their order. */
  push(owner: QueueOwner, request: QueuedRequest): void {
    const { method, target } = request;
    const isUrgent =
      this.#isUrgent({ method, target, user: owner.user }) && this.#budget.take(owner, this.#loop.elapsed());
    (isUrgent ? this.#urgent : this.#ordinary).push(owner, request);
  }
}

interface LaneQueueOptions {
  readonly loop: Clock;
  readonly lane: Lane;
  readonly maxWaiting: number;
}

/** Waiting requests of one owner. */
interface Line {
  readonly length: number;
  push(request: QueuedRequest, owner: QueueOwner): void;
  shift(): QueuedRequest | undefined;
  /** Removes the newest request; in a line with parts, of the longest part. */
  drop(): QueuedRequest | undefined;
}

class LaneQueue {
  readonly #options: LaneQueueOptions;
  /** Lines by user; undefined for all unverified clients. Each line has a posted step. */
  readonly #lines = new Map<string | undefined, Line>();
  #waiting = 0;

  constructor(options: LaneQueueOptions) {
    this.#options = options;
  }

  push(owner: QueueOwner, request: QueuedRequest): void {
    const { user } = owner;
    const known = this.#lines.get(user);
    const line = known ?? (user === undefined ? new SharedLine() : new UserLine());
    line.push(request, owner);
    this.#waiting += 1;
    if (known === undefined) {
      this.#lines.set(user, line);
      this.#post(user, line);
    }
    if (this.#waiting > this.#options.maxWaiting) this.#refuseOne();
  }

  #post(user: string | undefined, line: Line): void {
    const { loop, lane } = this.#options;
    loop.post(lane, () => this.#serve(user, line));
  }

  #serve(user: string | undefined, line: Line): void {
    const served = this.#run(line, this.#lines.size > 1 ? 1 : ALONE_MAX);
    for (const request of served) request.respond();
    if (line.length > 0) this.#post(user, line);
    else this.#lines.delete(user);
  }

  /** Runs at most `max` requests, and stops after a slow one. */
  #run(line: Line, max: number): readonly QueuedRequest[] {
    const { loop } = this.#options;
    const served: QueuedRequest[] = [];
    const endAt = loop.elapsed() + TOGETHER_MS;
    while (served.length < max) {
      const request = line.shift();
      if (request === undefined) break;
      this.#waiting -= 1;
      request.run();
      served.push(request);
      if (loop.elapsed() >= endAt) break;
    }
    return served;
  }

  /** Refuses the newest request of the owner with the most waiting requests. */
  #refuseOne(): void {
    let longest: Line | undefined;
    for (const line of this.#lines.values())
      if (longest === undefined || line.length > longest.length) longest = line;
    const request = longest?.drop();
    if (request === undefined) return;
    this.#waiting -= 1;
    request.refuse();
  }
}

class UserLine implements Line {
  readonly #requests = new Fifo<QueuedRequest>();

  get length(): number {
    return this.#requests.length;
  }

  push(request: QueuedRequest): void {
    this.#requests.push(request);
  }

  shift(): QueuedRequest | undefined {
    return this.#requests.shift();
  }

  drop(): QueuedRequest | undefined {
    return this.#requests.pop();
  }
}

class SharedLine implements Line {
  readonly #requests = new RoundRobin<QueuedRequest>();

  get length(): number {
    return this.#requests.length;
  }

  push(request: QueuedRequest, { path }: QueueOwner): void {
    this.#requests.push(path, request);
  }

  shift(): QueuedRequest | undefined {
    return this.#requests.shift();
  }

  drop(): QueuedRequest | undefined {
    return this.#requests.dropFromLongest();
  }
}
