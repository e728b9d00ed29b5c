/**
 * Bounds slow token verifications: webhook calls and signatures of other issuers. Verifications run in rounds, so a
 * client with made-up tokens delays other clients by at most one verification a round.
 */
import { tooManyRequests } from "../../../api/errors/api-error.ts";
import { RoundRobin } from "../../../base/collections/round-robin.ts";
import type { RequestNotes } from "../../request/request-notes.ts";

/** Half of the concurrent calls that one webhook server gets. */
const RUNNING_MAX = 32;
const WAITING_MAX = 1024;
const RETRY_AFTER_SECONDS = 1;

interface Waiting {
  begin(): void;
  refuse(error: Error): void;
}

/** Share of verifications for the server itself. */
const OWN_SHARE: readonly string[] = ["server"];

export class VerificationGate {
  readonly #waiting = new RoundRobin<Waiting>();
  #running = 0;

  /**
   * Runs `verify` when its turn comes. When too many wait, the newest of the client with the most rejects with the
   * ApiError `TooManyRequests`.
   */
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

  /** The next verification takes the place, so the count is unchanged. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next.begin();
  }
}
