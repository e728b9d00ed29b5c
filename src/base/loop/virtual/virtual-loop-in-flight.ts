/** Work that the actors of a virtual loop have begun and not ended. */

/** Upper bound of the labels in an error. */
const NAMED_MAX = 10;

export class InFlight {
  readonly #open = new Map<number, string>();
  #begun = 0;

  begin(actor: string, label: string): () => void {
    this.#begun += 1;
    const id = this.#begun;
    this.#open.set(id, `${actor}: ${label}`);
    return () => {
      this.#open.delete(id);
    };
  }

  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  /** Text for an error, oldest first. */
  describe(): string {
    const named = [...this.#open.values()].slice(0, NAMED_MAX).join("; ");
    const more = this.#open.size - NAMED_MAX;
    return more > 0 ? `${named}; and ${String(more)} more` : named;
  }
}
