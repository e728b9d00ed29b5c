/** Verifies the signature of a token with a set of keys. The key determines the algorithm, never the token. */
import { createHash, createPublicKey, sign, verify } from "node:crypto";
import type { KeyObject } from "node:crypto";
import type { JwtParts } from "./jwt.ts";

export interface SigningAlgorithm {
  /** Value of the `alg` header. */
  readonly name: string;
  readonly digest: string;
  /** JWS encodes an elliptic-curve signature as two concatenated numbers. */
  readonly encoding: { readonly dsaEncoding?: "ieee-p1363" };
}

const RSA: SigningAlgorithm = { name: "RS256", digest: "sha256", encoding: {} };
const CURVES: ReadonlyMap<string, SigningAlgorithm> = new Map([
  ["prime256v1", { name: "ES256", digest: "sha256", encoding: { dsaEncoding: "ieee-p1363" } }],
  ["secp384r1", { name: "ES384", digest: "sha384", encoding: { dsaEncoding: "ieee-p1363" } }],
  ["secp521r1", { name: "ES512", digest: "sha512", encoding: { dsaEncoding: "ieee-p1363" } }],
]);

export function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): SigningAlgorithm {
  const algorithm = asymmetricKeyType === "rsa" ? RSA : CURVES.get(asymmetricKeyDetails?.namedCurve ?? "");
  if (algorithm !== undefined) return algorithm;
  throw new Error(
    `tokens are signed with an RSA key or one on P-256, P-384 or P-521, found ${asymmetricKeyType ?? "none"}`,
  );
}

export interface VerificationKey {
  readonly id: string;
  readonly key: KeyObject;
  readonly algorithm: SigningAlgorithm;
}

/** Key ID as upstream computes it: the digest of the public key in DER. */
function keyId(key: KeyObject): string {
  return createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("base64url");
}

const PEM_BLOCK = /-----BEGIN [A-Z ]+-----[\s\S]+?-----END [A-Z ]+-----/g;

/** All public keys of a PEM file. */
export function readVerificationKeys(pem: string): readonly VerificationKey[] {
  return (pem.match(PEM_BLOCK) ?? []).map((block) => {
    const key = createPublicKey(block);
    return { id: keyId(key), key, algorithm: algorithmOf(key) };
  });
}

/** Tries only the key that the token names; all keys if it names none. */
export function isSignedBy(
  { header, signed, signature }: JwtParts,
  keys: readonly VerificationKey[],
): boolean {
  // The server supports no critical header extensions.
  if (Object.hasOwn(header, "crit")) return false;
  const { kid, alg } = header;
  const candidates = kid === undefined ? keys : keys.filter(({ id }) => id === kid);
  return candidates.some(
    ({ key, algorithm: { name, digest, encoding } }) =>
      alg === name && verify(digest, signed, { key, ...encoding }, signature),
  );
}

export function signText(text: string, key: KeyObject, { digest, encoding }: SigningAlgorithm): string {
  return sign(digest, Buffer.from(text, "latin1"), { key, ...encoding }).toString("base64url");
}
