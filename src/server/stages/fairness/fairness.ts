/**
 * The stage at which a request gets its seats, before anybody is asked whether it may be made: at once where there are
 * any, later in fair turn, or not at all. Seats bound what is under way: bodies being received, writes on their way to the
 * disk, long lists being sent. What is answered at once takes nothing but a turn of the loop, and turns are shared out by
 * the transport (`transport/turns.ts`). Who asks from within the process takes no seats: its loops have bounds of their own, and
 * the cluster stands still when they wait for others' lists.
 */
import { tooManyRequests } from "../../../api/errors/api-error.ts";
import type { Loop, Timer } from "../../../base/loop/loop.ts";
import type { Exchange, Next, Reply, Stage } from "../../request/exchange.ts";
import { isWhole } from "../../request/http.ts";
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

/** Of the time that a request has, it may wait this part. As upstream. */
const WAIT_PART = 0.25;
/** How long an answer that is being sent keeps its seats: as long as upstream lets a request take, with its answer. */
const SENDING_MS_MAX = 60_000;
const RETRY_AFTER_SECONDS = 1;

export interface FairnessParts extends WidthParts {
  readonly loop: Loop;
  readonly control: FlowControl;
  readonly pool: SeatPool;
}

/** A request of a level with limits, on its way. */
interface Asking {
  readonly exchange: Exchange;
  readonly next: Next;
  readonly user: User;
  readonly kind: FlowKind;
}

export function shareFairly(parts: FairnessParts): Stage {
  const desk = new SeatDesk(parts);
  return (exchange, next) => {
    const { info, user, notes } = exchange;
    if (user === undefined) throw new Error("who asks is known before seats are given out");
    if (isLongRunning(info) && !isWatch(exchange)) return next(exchange);
    const kind = parts.control.kindOf(user, exchange);
    notes.flow = kind.mark;
    if (!kind.level.isExempt && exchange.request.direct === undefined)
      return desk.serve({ exchange, next, user, kind });
    kind.meter.dispatched.add();
    return next(exchange);
  };
}

class SeatDesk {
  readonly #parts: FairnessParts;

  constructor(parts: FairnessParts) {
    this.#parts = parts;
  }

  serve(asking: Asking): Reply {
    const { pool } = this.#parts;
    const { level, meter } = asking.kind;
    const seats = widthOf(asking.exchange, level.limits.nominal, this.#parts);
    if (!pool.enter(level, seats)) return this.#wait(asking, seats);
    meter.waited.observe(0);
    return this.#carryOut(asking, seats, () => pool.leave(level, seats));
  }

  #wait(asking: Asking, seats: number): Promise<HttpResponse> {
    const { exchange, user, kind } = asking;
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
        onSeated: (end) => settle(() => this.#carryOut(asking, seats, end), resolve, reject),
        onRefused: (reason) => {
          level.refused[reason] += 1;
          pool.giveUp(level, waiter);
          reject(tooManyRequests("Too many requests, please try again later.", RETRY_AFTER_SECONDS));
        },
      });
      const refusal = level.enqueue(`${name} ${distinguisher}`, waiter);
      if (refusal !== undefined) return waiter.refuse(refusal);
      waiter.begin();
      return pool.crowd(level);
    });
  }

  /** `giveBack` is called once, when the request needs its seats no longer. */
  #carryOut({ exchange, next, kind: { meter } }: Asking, seats: number, giveBack: () => void): Reply {
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

/** What a request sits on until it leaves, which it does once. */
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

  /** Whoever takes an answer slowly keeps nobody from a seat for ever. */
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

/** Seats are given back when the answer is out; those of a watch when it has shown what was there before it. */
function held(response: HttpResponse, exchange: Exchange, seat: Seat): HttpResponse {
  const { info, query } = exchange;
  const { body, status } = response;
  if (isWatch(exchange)) {
    if (status === 200 && info.type === "resource" && showsPast(info, query)) leaveOnceBegun(exchange, seat);
    else seat.leave();
    return response;
  }
  if (!isWhole(body)) {
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
