/** Signs the tokens of service accounts, and recognises them again. JSON Web Tokens with ES256 (RFC 7515, 7518, 7519). */
import { createHash, createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { isJsonObject } from "../../api/json-object.ts";
import type { JsonObject } from "../../api/json-object.ts";
import type { TokenKeys } from "../pki/pki-folder.ts";

/** As kubeadm's, so that tokens read the same. */
const ISSUER = "https://kubernetes.default.svc.cluster.local";

export interface TokenIssuer {
  /** Who the tokens say they come from. */
  readonly issuer: string;
  /** For whom a token is when its request does not say. */
  readonly audiences: readonly string[];
  sign(claims: JsonObject): string;
  /** The claims of a token with a good signature of ours; whether they still hold is for the caller to say. */
  findClaims(token: string): JsonObject | undefined;
}

/** The keys are asked for when the first token is signed or shown: most clusters in tests never need any. */
export function tokenIssuer(findKeys: () => TokenKeys): TokenIssuer {
  let loaded: LoadedKeys | undefined;
  const keys = (): LoadedKeys => (loaded ??= loadKeys(findKeys()));
  return {
    issuer: ISSUER,
    audiences: [ISSUER],
    sign: (claims) => {
      const { header, signer } = keys();
      const text = `${header}.${encoded(claims)}`;
      const signature = sign("sha256", Buffer.from(text), { key: signer, dsaEncoding: "ieee-p1363" });
      return `${text}.${signature.toString("base64url")}`;
    },
    findClaims: (token) => findClaims(token, keys()),
  };
}

interface LoadedKeys {
  readonly signer: KeyObject;
  readonly verifier: KeyObject;
  /** Of every token. */
  readonly header: string;
}

function loadKeys({ privateKey, publicKey }: TokenKeys): LoadedKeys {
  const verifier = createPublicKey(publicKey);
  const header = encoded({ alg: "ES256", kid: keyId(verifier) });
  return { signer: createPrivateKey(privateKey), verifier, header };
}

/** Only the header that `sign` writes is taken: a token cannot choose how it is checked. */
function findClaims(token: string, { header, verifier: key }: LoadedKeys): JsonObject | undefined {
  const [head = "", body = "", signature = "", ...rest] = token.split(".");
  if (head !== header || rest.length > 0) return undefined;
  const bytes = Buffer.from(signature, "base64url");
  const isOurs = verify("sha256", Buffer.from(`${head}.${body}`), { key, dsaEncoding: "ieee-p1363" }, bytes);
  if (!isOurs) return undefined;
  const claims: unknown = JSON.parse(Buffer.from(body, "base64url").toString());
  return isJsonObject(claims) ? claims : undefined;
}

/** Names the key to those who have several, as upstream does: the digest of its published form. */
function keyId(key: KeyObject): string {
  return createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("base64url");
}

function encoded(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
