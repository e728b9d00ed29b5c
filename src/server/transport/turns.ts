/**
 * Turns of the loop, shared out between clients: of each that has requests waiting one is carried out, then one of the
 * next. A client that sends thousands at once, over however many connections, makes others wait for a few of its requests
 * and not for all of them. Who is alone gets several turns at once, so that writes that come together are stored together.
 */
import { Fifo } from "../../base/loop-fifo.ts";
import type { Loop, Step } from "../../base/loop.ts";

/** Turns of a client that nobody else waits for; so many of its requests are the most that whoever comes then waits for. */
const TURNS_ALONE = 16;

interface Client {
  /** Its turns to come. */
  turns: number;
  /** What comes after them, if anything ever did: most clients wait for each answer before they ask again. */
  line: Fifo<Step> | undefined;
}

export class Turns {
  readonly #loop: Loop;
  /** Those with a turn to come. */
  readonly #clients = new Map<string, Client>();

  constructor(loop: Loop) {
    this.#loop = loop;
  }

  /** Runs `step` once, never synchronously; those of one client in the order in which they came. */
  take(name: string, step: Step): void {
    const client = this.#clients.get(name);
    if (client === undefined) {
      const first = { turns: 0, line: undefined };
      this.#clients.set(name, first);
      this.#post(name, first, step);
    } else if (client.turns < this.#turnsMax && (client.line?.length ?? 0) === 0) {
      this.#post(name, client, step);
    } else {
      client.line ??= new Fifo();
      client.line.push(step);
    }
  }

  get #turnsMax(): number {
    return this.#clients.size > 1 ? 1 : TURNS_ALONE;
  }

  #post(name: string, client: Client, step: Step): void {
    client.turns += 1;
    this.#loop.post("request", () => {
      client.turns -= 1;
      this.#advance(name, client);
      return step();
    });
  }

  #advance(name: string, client: Client): void {
    while (client.turns < this.#turnsMax) {
      const next = client.line?.shift();
      if (next === undefined) break;
      this.#post(name, client, next);
    }
    if (client.turns === 0) this.#clients.delete(name);
  }
}
