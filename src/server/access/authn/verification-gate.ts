/**
 * Bounds the verifications of tokens that take longer than a turn of the thread: calls of a webhook, signatures of other
 * issuers. They run in rounds: a client that makes up tokens delays other clients by one verification a round.
 */
import { tooManyRequests } from "../../../api/errors/api-error.ts";
import { Rounds } from "../../../base/collections/rounds.ts";
import type { RequestNotes } from "../../request/request-notes.ts";

/** Half of the calls that one webhook server gets at a time. */
const RUNNING_MAX = 32;
const WAITING_MAX = 1024;
const RETRY_AFTER_SECONDS = 1;

interface Waiting {
  begin(): void;
  refuse(error: Error): void;
}

/** Verifications on behalf of the server itself. */
const OWN_SHARE: readonly string[] = ["server"];

export class VerificationGate {
  readonly #waiting = new Rounds<Waiting>();
  #running = 0;

  /** Rejects with the ApiError `TooManyRequests` when too many wait: the newest of the client that has most of them. */
  async run<T>(notes: RequestNotes | undefined, verify: () => Promise<T>): Promise<T> {
    if (this.#running >= RUNNING_MAX) await this.#turn(notes?.share ?? OWN_SHARE);
    else this.#running += 1;
    try {
      return await verify();
    } finally {
      this.#leave();
    }
  }

  #turn(share: readonly string[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(share, { begin: resolve, refuse: reject });
      if (this.#waiting.length <= WAITING_MAX) return;
      const error = tooManyRequests("Too many requests, please try again later.", RETRY_AFTER_SECONDS);
      this.#waiting.dropFromLongest()?.refuse(error);
    });
  }

  /** The next one takes the place, so that the count stays. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next.begin();
  }
}
