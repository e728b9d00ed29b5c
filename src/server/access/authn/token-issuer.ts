/** Signs and verifies service account tokens: JSON Web Tokens (RFC 7515, 7518, 7519). */
import { createHash, createPrivateKey } from "node:crypto";
import type { JsonObject } from "../../../api/json/json-object.ts";
import type { TokenKeys } from "../../pki/pki-folder.ts";
import { findParts, textClaim } from "./jwt.ts";
import { algorithmOf, isSignedBy, readVerificationKeys, signText } from "./token-signatures.ts";
import type { VerificationKey } from "./token-signatures.ts";

/** kubeadm's default. */
export const DEFAULT_ISSUER = "https://kubernetes.default.svc.cluster.local";

/** Issuer of legacy tokens, which have no expiry and are stored in Secrets. */
export const LEGACY_ISSUER = "kubernetes/serviceaccount";

export interface TokenIssuerSettings {
  /** New tokens name the first issuer; tokens of the others are accepted too. */
  readonly issuers?: readonly string[] | undefined;
  /**
   * Audiences of a token whose request names none, and the audiences that this server accepts. Default: the issuers.
   */
  readonly audiences?: readonly string[] | undefined;
  /** URL of the public keys, if another server publishes them. */
  readonly jwksUri?: string | undefined;
  /** Longest lifetime of a token, in seconds. */
  readonly maxSeconds?: number | undefined;
}

/** `foreign`: not a JWT, or of another issuer. `forged`: names this issuer, but has no valid signature. */
export type TokenOrigin =
  | { readonly type: "foreign" }
  | { readonly type: "forged" }
  | { readonly type: "ours"; readonly claims: JsonObject };

export interface TokenIssuer {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly jwksUri: string | undefined;
  readonly maxSeconds: number | undefined;
  sign(claims: JsonObject): string;
  /** Verifies only the signature; the caller checks the claims. The same token yields the same claims object. */
  originOf(token: string): TokenOrigin;
  /** Keys with which other servers verify tokens. */
  readonly publicKeys: readonly VerificationKey[];
}

const FOREIGN: TokenOrigin = { type: "foreign" };
const FORGED: TokenOrigin = { type: "forged" };

/** Keys that sign service account tokens. Called when the first token is signed or verified: most test clusters need none. */
export type TokenKeySource = () => TokenKeys;

export function tokenIssuer(findKeys: TokenKeySource, settings: TokenIssuerSettings = {}): TokenIssuer {
  const { issuers = [DEFAULT_ISSUER], audiences = issuers, jwksUri, maxSeconds } = settings;
  let loaded: LoadedKeys | undefined;
  const keys = (): LoadedKeys => (loaded ??= loadKeys(findKeys()));
  const known = new Set([...issuers, LEGACY_ISSUER]);
  const origins = new TokenOriginCache();
  return {
    issuer: issuers[0] ?? DEFAULT_ISSUER,
    audiences,
    jwksUri,
    maxSeconds,
    sign: (claims) => keys().sign(claims),
    originOf: (token) =>
      origins.of(token, () => {
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

/**
 * Verifying a signature takes a tenth of a millisecond, so results are cached, enough for a busy server's clients.
 */
const GENUINE_MAX = 4096;
/** Bound for foreign and forged tokens. A separate cache keeps them from evicting genuine ones. */
const OTHERS_MAX = 1024;

/**
 * Keyed by digest, so that no token stays in memory. Keys are fixed while the process runs, so a result never
 * expires.
 */
class TokenOriginCache {
  readonly #genuine = new Map<string, TokenOrigin>();
  readonly #others = new Map<string, TokenOrigin>();

  of(token: string, findOrigin: () => TokenOrigin): TokenOrigin {
    const digest = createHash("sha256").update(token).digest("base64");
    const known = this.#genuine.get(digest) ?? this.#others.get(digest);
    if (known !== undefined) return known;
    const outcome = findOrigin();
    if (outcome.type === "ours") keep(this.#genuine, { digest, outcome, max: GENUINE_MAX });
    else keep(this.#others, { digest, outcome, max: OTHERS_MAX });
    return outcome;
  }
}

interface Kept {
  readonly digest: string;
  readonly outcome: TokenOrigin;
  readonly max: number;
}

/** Evicts the oldest result when full. */
function keep(outcomes: Map<string, TokenOrigin>, { digest, outcome, max }: Kept): void {
  if (outcomes.size >= max) {
    const [oldest] = outcomes.keys();
    if (oldest !== undefined) outcomes.delete(oldest);
  }
  outcomes.set(digest, outcome);
}

function encoded(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
