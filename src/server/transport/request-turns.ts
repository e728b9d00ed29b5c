/**
 * Turns of requests in two lanes. Probes of health and writes of leases are urgent: a component that looks dead because it
 * had to wait is restarted, which makes matters worse. How many urgent requests an owner gets is bounded, since the urgent
 * lane goes before all others; the rest take ordinary turns.
 */
import type { Loop } from "../../base/loop/loop.ts";
import { RateBudget, type Rate } from "./rate-budget.ts";
import { Turns, type Turn, type TurnOwner } from "./turns.ts";

/** For each user, and for each address whose clients are not verified: a few hundredths of the server's thread. */
const OWNER_RATE: Rate = { burst: 200, perSecond: 100 };
/** For all clients together that are not verified: a tenth of the thread, from however many addresses. */
const STRANGERS_RATE: Rate = { burst: 1000, perSecond: 1000 };
/** Owners with a budget; the oldest one is dropped, and begins with a full budget when it comes back. */
const OWNERS_MAX = 10_000;

export interface RequestTurn extends Turn {
  readonly method: string;
  readonly target: string;
}

export class RequestTurns {
  readonly #loop: Pick<Loop, "elapsed" | "post">;
  readonly #ordinary: Turns;
  readonly #urgent: Turns;
  readonly #budgets = new Map<string, RateBudget>();
  readonly #strangers: RateBudget;

  constructor(loop: Pick<Loop, "elapsed" | "post">) {
    this.#loop = loop;
    this.#ordinary = new Turns({ loop });
    this.#urgent = new Turns({ loop, lane: "health" });
    this.#strangers = new RateBudget(STRANGERS_RATE, loop.elapsed());
  }

  /** Gives `turn` its turn, never synchronously. */
  take(owner: TurnOwner, turn: RequestTurn): void {
    const turns = this.#isUrgent(owner, turn) ? this.#urgent : this.#ordinary;
    turns.take(owner, turn);
  }

  #isUrgent({ user, path }: TurnOwner, turn: RequestTurn): boolean {
    const now = this.#loop.elapsed();
    if (user !== undefined) return isUrgent(turn) && this.#budgetOf(`user ${user}`, now).take(now);
    // A lease is written by a verified user: until then the request takes an ordinary turn.
    if (!isProbe(turn.target)) return false;
    return this.#budgetOf(`address ${path[0] ?? ""}`, now).take(now) && this.#strangers.take(now);
  }

  #budgetOf(key: string, now: number): RateBudget {
    const known = this.#budgets.get(key);
    if (known !== undefined) return known;
    if (this.#budgets.size >= OWNERS_MAX) {
      const [oldest] = this.#budgets.keys();
      if (oldest !== undefined) this.#budgets.delete(oldest);
    }
    const budget = new RateBudget(OWNER_RATE, now);
    this.#budgets.set(key, budget);
    return budget;
  }
}

const PROBE = /^\/(?:healthz|livez|readyz)(?:[/?]|$)/;
/** One lease, or the leases of a namespace. */
const LEASE = /^\/apis\/coordination\.k8s\.io\/v1\/namespaces\/[^/?]+\/leases(?<name>\/[^/?]+)?(?:\?|$)/;

function isProbe(target: string): boolean {
  return PROBE.test(target);
}

/** Lists and watches of leases are not: they cost what other lists cost. */
function isUrgent({ method, target }: RequestTurn): boolean {
  if (isProbe(target)) return true;
  const lease = LEASE.exec(target);
  if (lease === null) return false;
  return lease.groups?.["name"] === undefined ? method === "POST" : method !== "DELETE";
}
