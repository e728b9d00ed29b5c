/** Decodes a stored value with its resource's current transformer and, if that fails, with the earlier one. */
import { errorText } from "../../../base/error-text.ts";
import type { Entry } from "../../../store/store.ts";
import type { DecodedValue, ValueDecoder } from "../stored-object.ts";
import { UnreadableValue } from "../unreadable.ts";
import { identity } from "./ciphers.ts";
import { isEncrypted, type Decrypted, type Transformer } from "./transformer.ts";

/** Reads unencrypted values in any stored form. */
interface PlainReader {
  read(key: string, bytes: Buffer): DecodedValue;
}

export interface DecoderParts {
  /** Undefined for resources that are stored unencrypted. */
  readonly transformer: Transformer | undefined;
  readonly reader: PlainReader;
  readonly before?: EntryDecoder;
}

export class EntryDecoder implements ValueDecoder {
  readonly transformer: Transformer | undefined;
  readonly #reader: PlainReader;
  readonly #before: EntryDecoder | undefined;

  constructor({ transformer, reader, before }: DecoderParts) {
    this.transformer = transformer;
    this.#reader = reader;
    this.#before = before;
  }

  decode(entry: Entry): DecodedValue {
    const { bytes, isStale } = this.#decrypted(entry);
    const read = this.#reader.read(entry.key, bytes);
    return isStale ? { ...read, isStale } : read;
  }

  #decrypted(entry: Entry): Decrypted {
    const { key, value } = entry;
    try {
      if (this.transformer === undefined) return { bytes: unencrypted(value, key), isStale: false };
      return this.transformer.decrypt(value, key);
    } catch (error) {
      if (this.#before !== undefined) return { ...this.#before.#decrypted(entry), isStale: true };
      const why = errorText(error);
      throw new UnreadableValue(key, "transform", { why, cause: error });
    }
  }
}

function unencrypted(value: Uint8Array, key: string): Buffer {
  if (isEncrypted(value))
    throw new Error(
      "it is encrypted, and the server was given no key for it: see --encryption-provider-config",
    );
  return identity.decrypt(value, key);
}
