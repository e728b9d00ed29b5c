/**
 * Turns of the loop, shared out in rounds. Each verified user is one owner of turns. All clients that are not verified
 * together are one more owner: their turns go round between addresses, and within an address between connections. So a
 * property of a request that nothing has verified gives no client more turns, and costs a verified user one turn a round.
 * An owner that is alone gets several turns at once, so that writes that come together are stored together.
 */
import { Rounds } from "../../base/collections/rounds.ts";
import { Fifo } from "../../base/loop/loop-fifo.ts";
import type { Lane, Loop } from "../../base/loop/loop.ts";

/** Turns of an owner while no other owner waits: the most that a request of another owner then waits for. */
const TURNS_ALONE = 16;
/** After this no further turn is begun together with others, whose answers wait meanwhile. */
const TOGETHER_MS = 2;
/** Requests that wait, of all owners together. Each holds its headers. */
const WAITING_MAX = 10_000;

/** Whose turn it is. */
export interface TurnOwner {
  /** Undefined while the client is not verified. */
  readonly user: string | undefined;
  /** Address and connection, which share out the turns of clients that are not verified. */
  readonly path: readonly string[];
}

/** A request that waits for its turn. No part throws. */
export interface Turn {
  /** Does the work, of which some part may end later. */
  carryOut(): void;
  /**
   * Hands over what is ready. Called when all that have their turn together were carried out: the same work many times in
   * a row takes less time than two kinds of it in turn.
   */
  handOver(): void;
  /** Too many requests wait: called in place of the other two, and may be called during `take`. */
  turnAway(): void;
}

export interface TurnsOptions {
  readonly loop: Pick<Loop, "elapsed" | "post">;
  readonly lane?: Lane;
  readonly maxWaiting?: number;
}

/** The turns that one owner waits for. */
interface Line {
  readonly length: number;
  push(turn: Turn, owner: TurnOwner): void;
  shift(): Turn | undefined;
  /** Removes the newest turn, of the longest part where the line has parts. */
  drop(): Turn | undefined;
}

export class Turns {
  readonly #loop: Pick<Loop, "elapsed" | "post">;
  readonly #lane: Lane;
  readonly #maxWaiting: number;
  /** By user; undefined for all clients that are not verified. Only lines with a step that is posted. */
  readonly #lines = new Map<string | undefined, Line>();
  #waiting = 0;

  constructor({ loop, lane = "request", maxWaiting = WAITING_MAX }: TurnsOptions) {
    this.#loop = loop;
    this.#lane = lane;
    this.#maxWaiting = maxWaiting;
  }

  /** Gives `turn` its turn, never synchronously; turns of one owner in the order in which they came. */
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

  /** At most so many, of which all but the last were quick. */
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

  /** The owner that has filled the queue loses its newest request. */
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
