/**
 * Shares the turns of the loop in rounds. Each verified user owns turns; all unverified clients together are one more
 * owner. Their turns alternate between addresses, and within an address between connections. So unverified properties
 * of a request give a client no more turns, and cost a verified user one turn a round. A lone owner gets several turns
 * at once, so that concurrent writes are stored together.
 */
import { Rounds } from "../../base/collections/rounds.ts";
import { Fifo } from "../../base/loop/loop-fifo.ts";
import type { Lane, Loop } from "../../base/loop/loop.ts";

/** Turns of an owner while no other owner waits: upper bound of the wait of another owner's request. */
const TURNS_ALONE = 16;
/** After this time no further turn joins a batch, because its responses wait meanwhile. */
const TOGETHER_MS = 2;
/** Waiting requests of all owners together. Each holds its headers. */
const WAITING_MAX = 10_000;

/** The owner of a turn. */
export interface TurnOwner {
  /** Undefined while the client is not verified. */
  readonly user: string | undefined;
  /** Address and connection, between which the turns of unverified clients alternate. */
  readonly path: readonly string[];
}

/** A request that waits for its turn. No method throws. */
export interface Turn {
  /** Does the work; asynchronous parts may end later. */
  carryOut(): void;
  /**
   * Sends the response if it is ready. Called once the whole batch was carried out: repeating one kind of work is
   * faster than alternating two.
   */
  handOver(): void;
  /** Refuses the request because too many wait. Called instead of the other two, possibly during `take`. */
  turnAway(): void;
}

export interface TurnsOptions {
  readonly loop: Pick<Loop, "elapsed" | "post">;
  readonly lane?: Lane;
  readonly maxWaiting?: number;
}

/** Waiting turns of one owner. */
interface Line {
  readonly length: number;
  push(turn: Turn, owner: TurnOwner): void;
  shift(): Turn | undefined;
  /** Removes the newest turn; in a line with parts, of the longest part. */
  drop(): Turn | undefined;
}

export class Turns {
  readonly #loop: Pick<Loop, "elapsed" | "post">;
  readonly #lane: Lane;
  readonly #maxWaiting: number;
  /** Lines by user; undefined for all unverified clients. Each line has a posted step. */
  readonly #lines = new Map<string | undefined, Line>();
  #waiting = 0;

  constructor({ loop, lane = "request", maxWaiting = WAITING_MAX }: TurnsOptions) {
    this.#loop = loop;
    this.#lane = lane;
    this.#maxWaiting = maxWaiting;
  }

  /** Gives `turn` its turn, never synchronously. Turns of one owner keep their order. */
  take(owner: TurnOwner, turn: Turn): void {
    const { user } = owner;
    const known = this.#lines.get(user);
    const line = known ?? (user === undefined ? new SharedLine() : new UserLine());
    line.push(turn, owner);
    this.#waiting += 1;
    if (known === undefined) {
      this.#lines.set(user, line);
      this.#post(user, line);
    }
    if (this.#waiting > this.#maxWaiting) this.#turnAwayOne();
  }

  #post(user: string | undefined, line: Line): void {
    this.#loop.post(this.#lane, () => this.#serve(user, line));
  }

  #serve(user: string | undefined, line: Line): void {
    const served = this.#carryOut(line, this.#lines.size > 1 ? 1 : TURNS_ALONE);
    for (const turn of served) turn.handOver();
    if (line.length > 0) this.#post(user, line);
    else this.#lines.delete(user);
  }

  /** Carries out at most `max` turns, and stops after a slow one. */
  #carryOut(line: Line, max: number): readonly Turn[] {
    const served: Turn[] = [];
    const endAt = this.#loop.elapsed() + TOGETHER_MS;
    while (served.length < max) {
      const turn = line.shift();
      if (turn === undefined) break;
      this.#waiting -= 1;
      turn.carryOut();
      served.push(turn);
      if (this.#loop.elapsed() >= endAt) break;
    }
    return served;
  }

  /** Refuses the newest request of the owner with the most waiting requests. */
  #turnAwayOne(): void {
    let longest: Line | undefined;
    for (const line of this.#lines.values())
      if (longest === undefined || line.length > longest.length) longest = line;
    const turn = longest?.drop();
    if (turn === undefined) return;
    this.#waiting -= 1;
    turn.turnAway();
  }
}

class UserLine implements Line {
  readonly #turns = new Fifo<Turn>();

  get length(): number {
    return this.#turns.length;
  }

  push(turn: Turn): void {
    this.#turns.push(turn);
  }

  shift(): Turn | undefined {
    return this.#turns.shift();
  }

  drop(): Turn | undefined {
    return this.#turns.pop();
  }
}

class SharedLine implements Line {
  readonly #turns = new Rounds<Turn>();

  get length(): number {
    return this.#turns.length;
  }

  push(turn: Turn, { path }: TurnOwner): void {
    this.#turns.push(path, turn);
  }

  shift(): Turn | undefined {
    return this.#turns.shift();
  }

  drop(): Turn | undefined {
    return this.#turns.dropFromLongest();
  }
}
