/** Transforms values between their plain and their stored form. */

export interface Decrypted {
  readonly bytes: Buffer;
  /** True if a write today would store the value differently: with another key or transformer. */
  readonly isStale: boolean;
}

export interface Transformer {
  /** `encrypt` and `decrypt` take the store key: a value copied to another key cannot be decrypted there. */
  encrypt(plain: Uint8Array, key: string): Buffer;
  /** Throws an Error whose message reveals nothing of the content. */
  decrypt(stored: Uint8Array, key: string): Decrypted;
}

/** A transformer that marks its values with a prefix. */
export interface PrefixedTransformer {
  readonly prefix: Buffer;
  /** `encrypt` and `decrypt` handle the bytes after the prefix. */
  encrypt(plain: Uint8Array, key: string): Buffer;
  decrypt(encrypted: Uint8Array, key: string): Buffer;
}

/** Prefix of every encrypted value. */
const ENCRYPTED_PREFIX = "k8s:enc:";

export function isEncrypted(stored: Uint8Array): boolean {
  return beginsWith(stored, Buffer.from(ENCRYPTED_PREFIX));
}

function beginsWith(stored: Uint8Array, prefix: Buffer): boolean {
  return stored.byteLength >= prefix.length && prefix.equals(stored.subarray(0, prefix.length));
}

/**
 * The first transformer writes, all of them read. Several may share a prefix, as two keys of one name do: each is
 * tried.
 */
export function firstWrites(all: readonly [PrefixedTransformer, ...PrefixedTransformer[]]): Transformer {
  const [writer] = all;
  return {
    encrypt: (plain, key) => Buffer.concat([writer.prefix, writer.encrypt(plain, key)]),
    decrypt: (stored, key) => {
      let failure = new Error("no matching prefix found");
      for (const one of all) {
        if (!beginsWith(stored, one.prefix)) continue;
        try {
          return { bytes: one.decrypt(stored.subarray(one.prefix.length), key), isStale: one !== writer };
        } catch (error) {
          failure = error instanceof Error ? error : new Error(String(error));
        }
      }
      throw failure;
    },
  };
}
