/**
 * Turns of requests in two lanes. Health probes and lease writes are urgent: a component that seems dead because it
 * waited is restarted, which increases the load. The urgent lane goes before all others, so the urgent requests of each
 * owner are bounded. The others take ordinary turns.
 */
import type { Loop } from "../../base/loop/loop.ts";
import { RateBudget, type Rate } from "./rate-budget.ts";
import { Turns, type Turn, type TurnOwner } from "./turns.ts";

/** For each user, and for each address with unverified clients: a few hundredths of the server's thread. */
const OWNER_RATE: Rate = { burst: 200, perSecond: 100 };
/** For all unverified clients together: a tenth of the thread, however many addresses they use. */
const STRANGERS_RATE: Rate = { burst: 1000, perSecond: 1000 };
/** Owners with a budget. The oldest one is evicted, and starts with a full budget when it returns. */
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
    // Only a verified user writes leases: until then the request takes an ordinary turn.
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
/** Path of one lease, or of the leases of a namespace. */
const LEASE = /^\/apis\/coordination\.k8s\.io\/v1\/namespaces\/[^/?]+\/leases(?<name>\/[^/?]+)?(?:\?|$)/;

function isProbe(target: string): boolean {
  return PROBE.test(target);
}

/** Lists and watches of leases are not urgent: they cost as much as other lists. */
function isUrgent({ method, target }: RequestTurn): boolean {
  if (isProbe(target)) return true;
  const lease = LEASE.exec(target);
  if (lease === null) return false;
  return lease.groups?.["name"] === undefined ? method === "POST" : method !== "DELETE";
}
