/** Something inside the pods' network: opened once for all that need it, and again when the network is a new one. */
import { isSameProcess, type ProcessIdentity } from "./process-table.ts";

export interface NetworkPartOptions<T> {
  readonly open: (node: ProcessIdentity) => Promise<T>;
  readonly close: (part: T) => Promise<void>;
}

interface Opening<T> {
  /** Holder of the network. */
  readonly node: ProcessIdentity;
  readonly part: Promise<T>;
}

export class NetworkPart<T> {
  readonly #options: NetworkPartOptions<T>;
  #opening: Opening<T> | undefined;

  constructor(options: NetworkPartOptions<T>) {
    this.#options = options;
  }

  /** After a failure, the next caller tries again. */
  async open(node: ProcessIdentity): Promise<T> {
    const known = this.#opening;
    if (known !== undefined && isSameProcess(known.node, node)) return known.part;
    const opening = { node, part: this.#options.open(node) };
    this.#opening = opening;
    try {
      const [part] = await Promise.all([opening.part, known && this.#end(known)]);
      return part;
    } catch (error) {
      if (this.#opening === opening) this.#opening = undefined;
      throw error;
    }
  }

  /** No-op if it is not open. */
  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = undefined;
    if (opening !== undefined) await this.#end(opening);
  }

  async #end({ part }: Opening<T>): Promise<void> {
    const opened = await part.catch(() => undefined);
    if (opened !== undefined) await this.#options.close(opened);
  }
}
