/**
 * The stage that gives a request its seats before authorization: at once, later in fair order, or not at all. Seats
 * bound the requests in flight: bodies, disk writes, long lists. A synchronous response needs only a turn of the
 * server's thread, which `transport/request-queue.ts` shares. Callers in this process take no seats: their loops have their own bounds, and the
 * cluster would stall if they waited behind other clients' lists.
 */
import { tooManyRequests } from "../../../api/errors/api-error.ts";
import type { Loop, Timer } from "../../../base/loop/loop.ts";
import type { Exchange, Next, Reply, Stage } from "../../request/exchange.ts";
import type { HttpResponse } from "../../request/http.ts";
import type { User } from "../../request/user.ts";
import { allowedMs, isLongRunning } from "../deadline.ts";
import { distinguisherOf } from "./flow-control.ts";
import type { FlowControl, FlowKind } from "./flow-control.ts";
import { HeldBody } from "./held-body.ts";
import { showsPast, widthOf } from "./request-width.ts";
import type { WidthParts } from "./request-width.ts";
import type { SeatPool } from "./seat-pool.ts";
import { WaitingRequest } from "./waiting-request.ts";

/** Part of a request's timeout that it may wait for seats. As upstream. */
const WAIT_PART = 0.25;
/** Time for which a response in transfer keeps its seats; upstream's limit for a request with its response. */
const SENDING_MS_MAX = 60_000;
const RETRY_AFTER_SECONDS = 1;

export interface FairnessParts extends WidthParts {
  readonly loop: Loop;
  readonly control: FlowControl;
  readonly pool: SeatPool;
}

/** A request at a limited level. */
interface LimitedRequest {
  readonly exchange: Exchange;
  readonly next: Next;
  readonly user: User;
  readonly kind: FlowKind;
}

export function shareFairly(parts: FairnessParts): Stage {
  const seated = new SeatedRequests(parts);
  return (exchange, next) => {
    const { info, user, notes } = exchange;
    if (user === undefined) throw new Error("requests are authenticated before they get seats");
    if (isLongRunning(info) && !isWatch(exchange)) return next(exchange);
    const kind = parts.control.kindOf(user, exchange);
    notes.flow = kind.mark;
    if (!kind.level.isExempt && exchange.request.direct === undefined)
      return seated.serve({ exchange, next, user, kind });
    kind.meter.dispatched.add();
    return next(exchange);
  };
}

class SeatedRequests {
  readonly #parts: FairnessParts;

  constructor(parts: FairnessParts) {
    this.#parts = parts;
  }

  serve(limited: LimitedRequest): Reply {
    const { pool } = this.#parts;
    const { level, meter } = limited.kind;
    const seats = widthOf(limited.exchange, level.limits.nominal, this.#parts);
    if (!pool.enter(level, seats)) return this.#wait(limited, seats);
    meter.waited.observe(0);
    return this.#carryOut(limited, seats, () => pool.leave(level, seats));
  }

  #wait(limited: LimitedRequest, seats: number): Promise<HttpResponse> {
    const { exchange, user, kind } = limited;
    const { loop, pool } = this.#parts;
    const { level, meter, name } = kind;
    const distinguisher = distinguisherOf(kind, user, exchange);
    return new Promise((resolve, reject) => {
      const waiter = new WaitingRequest({
        loop,
        exchange,
        userName: user.name,
        schemaName: name,
        distinguisher,
        seats,
        meter,
        waitMs: allowedMs(exchange) * WAIT_PART,
        onSeated: (end) => settle(() => this.#carryOut(limited, seats, end), resolve, reject),
        onRefused: (reason) => {
          level.refused[reason] += 1;
          pool.giveUp(level, waiter);
          reject(tooManyRequests("Too many requests, please try again later.", RETRY_AFTER_SECONDS));
        },
      });
      const refusal = level.enqueue(`${name} ${distinguisher}`, waiter);
      if (refusal !== undefined) return waiter.refuse(refusal);
      waiter.begin();
      return pool.noteQueued(level);
    });
  }

  /** Calls `giveBack` once, when the request needs its seats no longer. */
  #carryOut({ exchange, next, kind: { meter } }: LimitedRequest, seats: number, giveBack: () => void): Reply {
    const seat = new Seat(this.#parts.loop, () => {
      meter.executing -= 1;
      meter.seats -= seats;
      giveBack();
    });
    const fail = (error: unknown): never => {
      seat.leave();
      throw error;
    };
    meter.dispatched.add();
    meter.executing += 1;
    meter.seats += seats;
    try {
      const reply = next(exchange);
      if (!(reply instanceof Promise)) return held(reply, exchange, seat);
      return reply.then((response) => held(response, exchange, seat), fail);
    } catch (error) {
      return fail(error);
    }
  }
}

/** The seats of a request, released once. */
class Seat {
  readonly #loop: Loop;
  #giveBack: (() => void) | undefined;
  #late: Timer | undefined;

  constructor(loop: Loop, giveBack: () => void) {
    this.#loop = loop;
    this.#giveBack = giveBack;
  }

  readonly leave = (): void => {
    const giveBack = this.#giveBack;
    this.#giveBack = undefined;
    this.#late?.cancel();
    giveBack?.();
  };

  /** Releases the seats of a slow reader after a bound. */
  leaveInTime(): void {
    const loop = this.#loop;
    this.#late = loop.timer(loop.now() + SENDING_MS_MAX, "periodic", this.leave);
  }
}

function settle(work: () => Reply, resolve: (reply: Reply) => void, reject: (error: Error) => void): void {
  try {
    resolve(work());
  } catch (error) {
    reject(error as Error);
  }
}

/** Releases the seats when the response is sent; those of a watch when its initial state is sent. */
function held(response: HttpResponse, exchange: Exchange, seat: Seat): HttpResponse {
  const { info, query } = exchange;
  const { body, status } = response;
  if (isWatch(exchange)) {
    if (status === 200 && info.type === "resource" && showsPast(info, query)) leaveOnceBegun(exchange, seat);
    else seat.leave();
    return response;
  }
  if (!(body instanceof Uint8Array)) {
    seat.leaveInTime();
    return { ...response, body: new HeldBody(body, seat.leave) };
  }
  seat.leave();
  return response;
}

function leaveOnceBegun({ request: { signal }, notes }: Exchange, seat: Seat): void {
  const onBegun = (): void => {
    signal.removeEventListener("abort", onBegun);
    seat.leave();
  };
  seat.leaveInTime();
  notes.whenBegun(onBegun);
  signal.addEventListener("abort", onBegun, { once: true });
  if (signal.aborted) onBegun();
}

function isWatch({ info }: Exchange): boolean {
  return info.type === "resource" && info.verb === "watch";
}
