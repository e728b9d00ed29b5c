/** Opens a stored value with its resource's current transformer and, if that fails, with the earlier one. */
import { errorText } from "../../../base/error-text.ts";
import type { Entry } from "../../../store/store.ts";
import type { OpenedValue, Opener } from "../stored-object.ts";
import { UnreadableValue } from "../unreadable.ts";
import { identity } from "./ciphers.ts";
import { isSealed, type Opened, type Transformer } from "./transformer.ts";

/** Reads unsealed values in any stored form. */
interface PlainReader {
  read(key: string, bytes: Buffer): OpenedValue;
}

export interface OpeningParts {
  /** Undefined for resources that are stored unencrypted. */
  readonly transformer: Transformer | undefined;
  readonly reader: PlainReader;
  readonly before?: Opening;
}

export class Opening implements Opener {
  readonly transformer: Transformer | undefined;
  readonly #reader: PlainReader;
  readonly #before: Opening | undefined;

  constructor({ transformer, reader, before }: OpeningParts) {
    this.transformer = transformer;
    this.#reader = reader;
    this.#before = before;
  }

  open(entry: Entry): OpenedValue {
    const { bytes, isStale } = this.#unsealed(entry);
    const read = this.#reader.read(entry.key, bytes);
    return isStale ? { ...read, isStale } : read;
  }

  #unsealed(entry: Entry): Opened {
    const { key, value } = entry;
    try {
      if (this.transformer === undefined) return { bytes: inClear(value, key), isStale: false };
      return this.transformer.open(value, key);
    } catch (error) {
      if (this.#before !== undefined) return { ...this.#before.#unsealed(entry), isStale: true };
      const why = errorText(error);
      throw new UnreadableValue(key, "transform", { why, cause: error });
    }
  }
}

function inClear(value: Uint8Array, key: string): Buffer {
  if (isSealed(value))
    throw new Error(
      "it is encrypted, and the server was given no key for it: see --encryption-provider-config",
    );
  return identity.open(value, key);
}
