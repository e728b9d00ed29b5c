/**
 * Turns of the loop, shared out between clients: of each that has requests waiting one is carried out, then one of the
 * next. A client that sends thousands at once, over however many connections, makes others wait for one of its requests
 * and not for all of them.
 */
import { Fifo } from "../../base/loop-fifo.ts";
import type { Loop, Step } from "../../base/loop.ts";

export class Turns {
  readonly #loop: Loop;
  /** Of clients with a turn to come: what comes after it, if anything ever did. */
  readonly #lines = new Map<string, Fifo<Step> | undefined>();

  constructor(loop: Loop) {
    this.#loop = loop;
  }

  /** Runs `step` once, never synchronously; those of one client in the order in which they came. */
  take(client: string, step: Step): void {
    if (this.#lines.has(client)) {
      this.#lineOf(client).push(step);
      return;
    }
    this.#lines.set(client, undefined);
    this.#post(client, step);
  }

  /** Most clients wait for each answer before they ask again, and never need one. */
  #lineOf(client: string): Fifo<Step> {
    const known = this.#lines.get(client);
    if (known !== undefined) return known;
    const line = new Fifo<Step>();
    this.#lines.set(client, line);
    return line;
  }

  #post(client: string, step: Step): void {
    this.#loop.post("request", () => {
      const next = this.#lines.get(client)?.shift();
      if (next === undefined) this.#lines.delete(client);
      else this.#post(client, next);
      return step();
    });
  }
}
