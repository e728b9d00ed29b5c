/** Signs the tokens of service accounts, and recognises them again: JSON Web Tokens (RFC 7515, 7518, 7519). */
import { createHash, createPrivateKey } from "node:crypto";
import type { JsonObject } from "../../../api/json/json-object.ts";
import type { TokenKeys } from "../../pki/pki-folder.ts";
import { findParts, textClaim } from "./jwt.ts";
import { algorithmOf, isSignedBy, readVerificationKeys, signText } from "./token-signatures.ts";
import type { VerificationKey } from "./token-signatures.ts";

/** As kubeadm's, so that tokens read the same. */
export const DEFAULT_ISSUER = "https://kubernetes.default.svc.cluster.local";

/** Of tokens as they were before they had an end: they lie in Secrets. */
export const LEGACY_ISSUER = "kubernetes/serviceaccount";

export interface TokenIssuerSettings {
  /** The first is who tokens say they come from; those of the others are accepted. */
  readonly issuers?: readonly string[] | undefined;
  /** For whom a token is when its request does not say, and for whom it must be to be accepted here; the issuers unless given. */
  readonly audiences?: readonly string[] | undefined;
  /** Under which others find the public keys, where it is not this server. */
  readonly jwksUri?: string | undefined;
  /** Tokens live no longer than this. */
  readonly maxSeconds?: number | undefined;
}

/** `foreign`: made by somebody else, or no such token at all. `forged`: says that it is ours, and is not. */
export type Recognition =
  | { readonly type: "foreign" }
  | { readonly type: "forged" }
  | { readonly type: "ours"; readonly claims: JsonObject };

export interface TokenIssuer {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly jwksUri: string | undefined;
  readonly maxSeconds: number | undefined;
  sign(claims: JsonObject): string;
  /** Looks at the signature only; whether the claims still hold is for the caller to say. The same token gives the same claims. */
  recognise(token: string): Recognition;
  /** With which others can check tokens. */
  readonly publicKeys: readonly VerificationKey[];
}

const FOREIGN: Recognition = { type: "foreign" };
const FORGED: Recognition = { type: "forged" };

/** The keys are asked for when the first token is signed or shown: most clusters in tests never need any. */
export function tokenIssuer(findKeys: () => TokenKeys, settings: TokenIssuerSettings = {}): TokenIssuer {
  const { issuers = [DEFAULT_ISSUER], audiences = issuers, jwksUri, maxSeconds } = settings;
  let loaded: LoadedKeys | undefined;
  const keys = (): LoadedKeys => (loaded ??= loadKeys(findKeys()));
  const known = new Set([...issuers, LEGACY_ISSUER]);
  const recognised = new RecognitionCache();
  return {
    issuer: issuers[0] ?? DEFAULT_ISSUER,
    audiences,
    jwksUri,
    maxSeconds,
    sign: (claims) => keys().sign(claims),
    recognise: (token) =>
      recognised.of(token, () => {
        const parts = findParts(token);
        if (parts === undefined || !known.has(textClaim(parts.claims, "iss"))) return FOREIGN;
        return isSignedBy(parts, keys().verifiers) ? { type: "ours", claims: parts.claims } : FORGED;
      }),
    get publicKeys() {
      return keys().verifiers;
    },
  };
}

interface LoadedKeys {
  readonly verifiers: readonly VerificationKey[];
  sign(claims: JsonObject): string;
}

function loadKeys({ privateKey, publicKey }: TokenKeys): LoadedKeys {
  const signer = createPrivateKey(privateKey);
  const algorithm = algorithmOf(signer);
  const verifiers = readVerificationKeys(publicKey);
  const header = encoded({ alg: algorithm.name, kid: verifiers[0]?.id });
  return {
    verifiers,
    sign: (claims) => {
      const text = `${header}.${encoded(claims)}`;
      return `${text}.${signText(text, signer, algorithm)}`;
    },
  };
}

/** A check of a signature takes a tenth of a millisecond, so its outcome is kept: as many as a busy server has clients. */
const GENUINE_MAX = 4096;
/** Tokens of other issuers, and forged ones. Made-up tokens push out each other, and no genuine one. */
const OTHERS_MAX = 1024;

/** Under the digest, so that no token stays in memory. Keys do not change while the process runs: an outcome holds for ever. */
class RecognitionCache {
  readonly #genuine = new Map<string, Recognition>();
  readonly #others = new Map<string, Recognition>();

  of(token: string, recognise: () => Recognition): Recognition {
    const digest = createHash("sha256").update(token).digest("base64");
    const known = this.#genuine.get(digest) ?? this.#others.get(digest);
    if (known !== undefined) return known;
    const outcome = recognise();
    if (outcome.type === "ours") keep(this.#genuine, { digest, outcome, max: GENUINE_MAX });
    else keep(this.#others, { digest, outcome, max: OTHERS_MAX });
    return outcome;
  }
}

interface Kept {
  readonly digest: string;
  readonly outcome: Recognition;
  readonly max: number;
}

/** The oldest makes room. */
function keep(outcomes: Map<string, Recognition>, { digest, outcome, max }: Kept): void {
  if (outcomes.size >= max) {
    const [oldest] = outcomes.keys();
    if (oldest !== undefined) outcomes.delete(oldest);
  }
  outcomes.set(digest, outcome);
}

function encoded(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
