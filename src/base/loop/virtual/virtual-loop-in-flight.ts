/** Work that the actors of a virtual loop have begun and not ended. */

/** Upper bound of the labels in an error. */
const NAMED_MAX = 10;

export class InFlight {
  readonly #open = new Map<number, { readonly actor: string; readonly label: string }>();
  /** Actors whose work no longer counts. */
  readonly #abandoned: string[] = [];
  #begun = 0;

  begin(actor: string, label: string): () => void {
    this.#begun += 1;
    const id = this.#begun;
    if (!this.#isAbandoned(actor)) this.#open.set(id, { actor, label });
    return () => {
      this.#open.delete(id);
    };
  }

  /** Forgets the work of an actor and its children, now and from now on. */
  abandon(actor: string): void {
    this.#abandoned.push(actor);
    for (const [id, work] of this.#open) if (this.#isAbandoned(work.actor)) this.#open.delete(id);
  }

  #isAbandoned(actor: string): boolean {
    return this.#abandoned.some((root) => actor === root || actor.startsWith(`${root}/`));
  }

  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  /** Text for an error, oldest first. */
  describe(): string {
    const texts = [...this.#open.values()].map(({ actor, label }) => `${actor}: ${label}`);
    const named = texts.slice(0, NAMED_MAX).join("; ");
    const more = this.#open.size - NAMED_MAX;
    return more > 0 ? `${named}; and ${String(more)} more` : named;
  }
}
