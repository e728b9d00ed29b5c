/** What stands between an object's bytes and those that are stored. */

export interface Opened {
  readonly bytes: Buffer;
  /** Whether it would be written differently today: with another key, or at all in another way. */
  readonly isStale: boolean;
}

export interface Transformer {
  /** Both take the key under which the value is stored: what was moved to another key does not open there. */
  seal(plain: Uint8Array, key: string): Buffer;
  /** Throws an Error whose message says nothing of the content. */
  open(stored: Uint8Array, key: string): Opened;
}

/** A transformer that knows its own by how it begins. */
export interface PrefixedTransformer {
  readonly prefix: Buffer;
  /** Of what follows the prefix. */
  seal(plain: Uint8Array, key: string): Buffer;
  open(sealed: Uint8Array, key: string): Buffer;
}

/** How everything begins that is not stored as it is. */
const SEALED_PREFIX = "k8s:enc:";

export function isSealed(stored: Uint8Array): boolean {
  return beginsWith(stored, Buffer.from(SEALED_PREFIX));
}

function beginsWith(stored: Uint8Array, prefix: Buffer): boolean {
  return stored.byteLength >= prefix.length && prefix.equals(stored.subarray(0, prefix.length));
}

/** The first one writes, all of them read. Several may have one prefix, as two keys of one name do: each is tried. */
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
