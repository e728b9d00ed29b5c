/**
 * Caches forms of stored objects other than the stored one: another version, protobuf, watch frames. Bounded in bytes,
 * so that many readers share one encoding. The forms do not keep an unused object alive.
 */
import type { StoredObject } from "../objects/stored-object.ts";

/** Room for some thousand pods as protobuf; a larger list encodes them each time. */
const FORM_CACHE_BYTES = 32 << 20;
/** Approximate overhead of a record beside its bytes. */
const RECORD_BYTES = 200;

interface FormRecord {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** The forms of the same object, without the object itself. */
  readonly siblings: Map<string, FormRecord>;
  /** Whether the record was used since the last eviction pass; it is then spared once. */
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

  /** Bytes of all cached forms. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The cached form of that name, or a new one. Callers that use the same name must make the same form. */
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

  /** Terminates: each record is spared at most once. */
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
