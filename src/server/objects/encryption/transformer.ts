/** Transforms values between their plain and their stored form. */

export interface Opened {
  readonly bytes: Buffer;
  /** True if a write today would store the value differently: with another key or transformer. */
  readonly isStale: boolean;
}

export interface Transformer {
  /** `seal` and `open` take the store key: a value copied to another key does not open there. */
  seal(plain: Uint8Array, key: string): Buffer;
  /** Throws an Error whose message reveals nothing of the content. */
  open(stored: Uint8Array, key: string): Opened;
}

/** A transformer that marks its values with a prefix. */
export interface PrefixedTransformer {
  readonly prefix: Buffer;
  /** `seal` and `open` handle the bytes after the prefix. */
  seal(plain: Uint8Array, key: string): Buffer;
  open(sealed: Uint8Array, key: string): Buffer;
}

/** Prefix of every value that is not stored in clear. */
const SEALED_PREFIX = "k8s:enc:";

export function isSealed(stored: Uint8Array): boolean {
  return beginsWith(stored, Buffer.from(SEALED_PREFIX));
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
    seal: (plain, key) => Buffer.concat([writer.prefix, writer.seal(plain, key)]),
    open: (stored, key) => {
      let failure = new Error("no matching prefix found");
      for (const one of all) {
        if (!beginsWith(stored, one.prefix)) continue;
        try {
          return { bytes: one.open(stored.subarray(one.prefix.length), key), isStale: one !== writer };
        } catch (error) {
          failure = error instanceof Error ? error : new Error(String(error));
        }
      }
      throw failure;
    },
  };
}
