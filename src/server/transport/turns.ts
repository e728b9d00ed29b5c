/**
 * Turns of the loop, shared out between clients: of each that has requests waiting one is carried out, then one of the
 * next. A client that sends thousands at once, over however many connections, makes others wait for a few of its requests
 * and not for all of them. Who is alone gets several turns at once, so that writes that come together are stored together.
 */
import { Fifo } from "../../base/loop-fifo.ts";
import type { Loop } from "../../base/loop.ts";

/** Turns of a client that nobody else waits for; so many of its requests are the most that whoever comes then waits for. */
const TURNS_ALONE = 16;
/** After this no further one is begun together with others, whose answers wait meanwhile. */
const TOGETHER_MS = 2;

/** What waits for its turn. Neither part throws. */
export interface Turn {
  /** Does the work, of which some part may end later. */
  carryOut(): void;
  /**
   * Hands over what is ready. Called when all that have their turn together were carried out: the same work many times in
   * a row takes less time than two kinds of it in turn.
   */
  handOver(): void;
}

export class Turns {
  readonly #loop: Pick<Loop, "elapsed" | "post">;
  /** What each client waits for, of those that have a turn to come. */
  readonly #lines = new Map<string, Fifo<Turn>>();

  constructor(loop: Pick<Loop, "elapsed" | "post">) {
    this.#loop = loop;
  }

  /** Gives `turn` its turn, never synchronously; those of one client in the order in which they came. */
  take(client: string, turn: Turn): void {
    const known = this.#lines.get(client);
    const line = known ?? new Fifo<Turn>();
    line.push(turn);
    if (known !== undefined) return;
    this.#lines.set(client, line);
    this.#post(client, line);
  }

  #post(client: string, line: Fifo<Turn>): void {
    this.#loop.post("request", () => this.#serve(client, line));
  }

  #serve(client: string, line: Fifo<Turn>): void {
    const served = this.#carryOut(line, this.#lines.size > 1 ? 1 : TURNS_ALONE);
    for (const turn of served) turn.handOver();
    if (line.length > 0) this.#post(client, line);
    else this.#lines.delete(client);
  }

  /** At most so many, of which all but the last were quick. */
  #carryOut(line: Fifo<Turn>, max: number): readonly Turn[] {
    const served: Turn[] = [];
    const endAt = this.#loop.elapsed() + TOGETHER_MS;
    while (served.length < max) {
      const turn = line.shift();
      if (turn === undefined) break;
      turn.carryOut();
      served.push(turn);
      if (this.#loop.elapsed() >= endAt) break;
    }
    return served;
  }
}
