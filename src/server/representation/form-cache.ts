/**
 * Forms of stored objects that are not the stored one: another version, protobuf, watch frames. Kept while there is room,
 * so that many readers share what one made. An object that nobody holds any more is not kept alive by its forms.
 */
import type { StoredObject } from "../objects/stored-object.ts";

/** As much as some thousand pods take as protobuf; a list of more makes them anew each time. */
const FORM_CACHE_BYTES = 32 << 20;
/** What a record costs beside its bytes, about. */
const RECORD_BYTES = 200;

interface FormRecord {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** The forms of the same object, without the object itself. */
  readonly siblings: Map<string, FormRecord>;
  /** Asked for since it was last looked at: it is then spared once. */
  wasUsed: boolean;
}

export class FormCache {
  readonly #maxBytes: number;
  readonly #forms = new WeakMap<StoredObject, Map<string, FormRecord>>();
  /** Oldest first. */
  readonly #records = new Set<FormRecord>();
  #bytes = 0;

  constructor(maxBytes: number = FORM_CACHE_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Of all forms kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The form of that name, made unless it is known. Callers that use one name must make one thing. */
  form(stored: StoredObject, name: string, make: (stored: StoredObject) => Uint8Array): Uint8Array {
    const known = this.#forms.get(stored)?.get(name);
    if (known !== undefined) {
      known.wasUsed = true;
      return known.bytes;
    }
    const bytes = make(stored);
    this.#keep(stored, name, bytes);
    return bytes;
  }

  #keep(stored: StoredObject, name: string, bytes: Uint8Array): void {
    if (bytes.byteLength > this.#maxBytes / 16) return;
    const siblings = this.#forms.get(stored) ?? new Map<string, FormRecord>();
    this.#forms.set(stored, siblings);
    const record = { name, bytes, siblings, wasUsed: false };
    siblings.set(name, record);
    this.#records.add(record);
    this.#bytes += bytes.byteLength + RECORD_BYTES;
    this.#makeRoom();
  }

  /** Ends: every round spares a record at most once. */
  #makeRoom(): void {
    for (const record of this.#records) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#records.delete(record);
      if (record.wasUsed) {
        record.wasUsed = false;
        this.#records.add(record);
        continue;
      }
      record.siblings.delete(record.name);
      this.#bytes -= record.bytes.byteLength + RECORD_BYTES;
    }
  }
}
