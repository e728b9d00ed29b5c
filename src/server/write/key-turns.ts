/**
 * Lets one update of a key at a time compute its change, in order of arrival. Of two that compute at the same time, the
 * second would only find that the first has changed the object.
 */
export class KeyTurns {
  /** The updates that wait for a turn, by key. A key is in the map while an update has its turn. Bounded by the requests in flight. */
  readonly #waiting = new Map<string, (() => void)[]>();

  /** Undefined if the turn is free: the caller has it at once. Otherwise resolves when the caller has it. */
  take(key: string): Promise<void> | undefined {
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) return new Promise((resolve) => waiting.push(resolve));
    this.#waiting.set(key, []);
    return undefined;
  }

  /** Gives the turn to the next update. */
  release(key: string): void {
    const next = this.#waiting.get(key)?.shift();
    if (next === undefined) this.#waiting.delete(key);
    else next();
  }
}
