/** Kubernetes' storage encodings: kube-apiserver reads values written here, and the other way round. */
import { createCipheriv, createDecipheriv } from "node:crypto";
import type { Random } from "../../../base/loop/loop.ts";
import { isEncrypted } from "./transformer.ts";
import type { PrefixedTransformer } from "./transformer.ts";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const BLOCK_BYTES = 16;

export const AES_KEY_BYTES: readonly number[] = [16, 24, 32];

export interface NamedKey {
  readonly name: string;
  /** 16, 24 or 32 bytes. */
  readonly secret: Buffer;
}

/** Prefix, nonce, ciphertext, tag. The tag also authenticates the value's store key. */
export function aesGcm({ name, secret }: NamedKey, random: Random): PrefixedTransformer {
  const algorithm = `aes-${bitsOf(secret)}-gcm` as const;
  return {
    prefix: Buffer.from(`k8s:enc:aesgcm:v1:${name}:`),
    encrypt: (plain, key) => {
      const nonce = random.bytes(NONCE_BYTES);
      const cipher = createCipheriv(algorithm, secret, nonce);
      cipher.setAAD(Buffer.from(key));
      const encrypted = [cipher.update(plain), cipher.final()];
      return Buffer.concat([nonce, ...encrypted, cipher.getAuthTag()]);
    },
    decrypt: (encrypted, key) => {
      if (encrypted.byteLength < NONCE_BYTES + TAG_BYTES) throw new Error("the stored data is too short");
      const nonce = encrypted.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv(algorithm, secret, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(key));
      decipher.setAuthTag(encrypted.subarray(-TAG_BYTES));
      const plain = decipher.update(encrypted.subarray(NONCE_BYTES, -TAG_BYTES));
      return concluded(plain, () => decipher.final(), "message authentication failed");
    },
  };
}

/** Prefix, IV, ciphertext. It does not detect changes, so it only serves to read older values. */
export function aesCbc({ name, secret }: NamedKey, random: Random): PrefixedTransformer {
  const algorithm = `aes-${bitsOf(secret)}-cbc` as const;
  return {
    prefix: Buffer.from(`k8s:enc:aescbc:v1:${name}:`),
    encrypt: (plain) => {
      const vector = random.bytes(BLOCK_BYTES);
      const cipher = createCipheriv(algorithm, secret, vector);
      return Buffer.concat([vector, cipher.update(plain), cipher.final()]);
    },
    decrypt: (encrypted) => {
      if (encrypted.byteLength < 2 * BLOCK_BYTES || encrypted.byteLength % BLOCK_BYTES !== 0)
        throw new Error("the stored data is not a multiple of the block size");
      const decipher = createDecipheriv(algorithm, secret, encrypted.subarray(0, BLOCK_BYTES));
      const plain = decipher.update(encrypted.subarray(BLOCK_BYTES));
      return concluded(plain, () => decipher.final(), "invalid padding on input");
    },
  };
}

/** Stores bytes unencrypted. Reading a value that another transformer encrypted fails. */
export const identity: PrefixedTransformer = {
  prefix: Buffer.alloc(0),
  encrypt: (plain) => Buffer.from(plain),
  decrypt: (stored) => {
    if (isEncrypted(stored)) throw new Error("identity transformer tried to read encrypted data");
    return Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
  },
};

function bitsOf({ length }: Buffer): 128 | 192 | 256 {
  if (length === 16) return 128;
  return length === 24 ? 192 : 256;
}

/** Replaces the crypto library's error text, which differs between versions. */
function concluded(plain: Buffer, conclude: () => Buffer, failure: string): Buffer {
  try {
    return Buffer.concat([plain, conclude()]);
  } catch (error) {
    throw new Error(failure, { cause: error });
  }
}
