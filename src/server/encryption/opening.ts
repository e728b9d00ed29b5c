/** How a stored value is opened: as its resource is stored today or, where that does not open it, as it was known to be stored before. */
import { internalError } from "../../api/api-error.ts";
import type { Entry } from "../../store/store.ts";
import type { Opener } from "../stored-object.ts";
import { identity } from "./ciphers.ts";
import type { Opened, Transformer } from "./transformer.ts";

export class Opening implements Opener {
  /** Undefined where objects are stored as they are. */
  readonly transformer: Transformer | undefined;
  readonly #before: Opening | undefined;

  constructor(transformer: Transformer | undefined, before?: Opening) {
    this.transformer = transformer;
    this.#before = before;
  }

  open(entry: Entry): Opened {
    const { key, value } = entry;
    try {
      if (this.transformer === undefined) return { bytes: identity.open(value, key), isStale: false };
      return this.transformer.open(value, key);
    } catch (error) {
      if (this.#before !== undefined) return { ...this.#before.open(entry), isStale: true };
      const why = error instanceof Error ? error.message : String(error);
      throw internalError(new Error(`unable to transform key ${JSON.stringify(key)}: ${why}`));
    }
  }
}
