/**
 * Keeps the public keys of an issuer. Keys are fetched on first use, and again when a token names an unknown key,
 * since issuers rotate keys. The fetch rate is bounded, so made-up key names cause no load on the issuer.
 */
import { createRequire } from "node:module";
import type * as Jose from "jose";
import { isJsonObject } from "../../../../api/json/json-object.ts";
import type { JsonObject } from "../../../../api/json/json-object.ts";
import type { Loop } from "../../../../base/loop/loop.ts";
import { EgressError } from "../../../egress/egress.ts";
import type { Egress } from "../../../egress/egress.ts";
import type { JwtIssuer } from "./configuration.ts";

/** Shortest time between two fetches, also after a failure. */
const PAUSE_MS = 10_000;
/** Longest time that a withdrawn key is accepted, if the issuer is reachable. */
const AGE_MAX_MS = 3_600_000;
const TIMEOUT_MS = 10_000;
const REPLY_BYTES_MAX = 1 << 20;

export interface IssuerKeyParts {
  readonly loop: Loop;
  readonly egress: Egress;
}

/** Reason why there are no keys. Contains no part of a token. */
export class IssuerError extends Error {
  override readonly name = "IssuerError";
}

/** Loaded with the first token of another issuer, because most servers never see one. */
let loaded: typeof Jose | undefined;

function jose(): typeof Jose {
  return (loaded ??= createRequire(import.meta.url)("jose") as typeof Jose);
}

interface KeySet {
  readonly find: ReturnType<typeof Jose.createLocalJWKSet>;
  readonly fetchedAt: number;
}

export class IssuerKeys {
  readonly #issuer: JwtIssuer;
  readonly #parts: IssuerKeyParts;
  #keys: KeySet | undefined;
  #fetching: Promise<void> | undefined;
  #triedAt = -Infinity;
  #problem = "its keys are not fetched yet";

  constructor(issuer: JwtIssuer, parts: IssuerKeyParts) {
    this.#issuer = issuer;
    this.#parts = parts;
  }

  /**
   * True if one of the issuer's keys signed the token with one of these algorithms. Rejects with IssuerError while no
   * keys are known.
   */
  async hasSigned(token: string, algorithms: readonly string[]): Promise<boolean> {
    if (this.#keys === undefined || this.#isOld(this.#keys)) await this.#fetch();
    const first = await this.#check(token, algorithms);
    if (first !== "unknown key") return first === "signed";
    await this.#fetch();
    return (await this.#check(token, algorithms)) === "signed";
  }

  async #check(
    token: string,
    algorithms: readonly string[],
  ): Promise<"signed" | "not signed" | "unknown key"> {
    if (this.#keys === undefined) throw new IssuerError(this.#problem);
    const { errors, compactVerify } = jose();
    const options = { algorithms: [...algorithms] };
    const { find } = this.#keys;
    try {
      await this.#parts.loop.outside("crypto", compactVerify(token, find, options));
      return "signed";
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) return "unknown key";
      if (error instanceof errors.JWKSMultipleMatchingKeys) return this.#checkEach(token, error, options);
      if (error instanceof errors.JOSEError || error instanceof TypeError) return "not signed";
      throw error;
    }
  }

  /** A token without a key ID is valid if any key signed it. */
  async #checkEach(
    token: string,
    candidates: AsyncIterable<Jose.CryptoKey>,
    options: Jose.VerifyOptions,
  ): Promise<"signed" | "not signed"> {
    const { errors, compactVerify } = jose();
    for await (const key of candidates) {
      try {
        await this.#parts.loop.outside("crypto", compactVerify(token, key, options));
        return "signed";
      } catch (error) {
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
      }
    }
    return "not signed";
  }

  #isOld({ fetchedAt }: KeySet): boolean {
    return this.#parts.loop.elapsed() - fetchedAt > AGE_MAX_MS;
  }

  /** Concurrent callers share one fetch. A failed fetch keeps the old keys. */
  #fetch(): Promise<void> {
    if (this.#fetching !== undefined) return this.#fetching;
    const now = this.#parts.loop.elapsed();
    if (now - this.#triedAt < PAUSE_MS) return Promise.resolve();
    this.#triedAt = now;
    this.#fetching = this.#load().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #load(): Promise<void> {
    try {
      const configuration = await this.#read(this.#issuer.discoveryUrl);
      const { issuer, jwks_uri: uri } = configuration;
      if (issuer !== this.#issuer.url)
        throw new IssuerError(`the issuer's metadata names the issuer ${JSON.stringify(issuer)}`);
      if (typeof uri !== "string") throw new IssuerError("the issuer's metadata has no jwks_uri");
      const set = await this.#read(uri);
      const find = jose().createLocalJWKSet(set as JsonObject & Jose.JSONWebKeySet);
      this.#keys = { find, fetchedAt: this.#parts.loop.elapsed() };
    } catch (error) {
      if (!isExpected(error)) throw error;
      this.#problem = error.message;
    }
  }

  async #read(url: string): Promise<JsonObject> {
    const { status, body } = await this.#parts.egress.call({
      target: { type: "url", url },
      trust: { ca: this.#issuer.ca },
      method: "GET",
      path: "",
      headers: { accept: "application/json" },
      body: undefined,
      timeoutMs: TIMEOUT_MS,
      replyBytesMax: REPLY_BYTES_MAX,
      signal: NEVER,
    });
    if (status !== 200) throw new IssuerError(`${url} answers with ${String(status)}`);
    const value = parsed(body);
    if (!isJsonObject(value)) throw new IssuerError(`${url} does not answer with a JSON object`);
    return value;
  }
}

const NEVER = new AbortController().signal;

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString());
  } catch {
    return undefined;
  }
}

function isExpected(error: unknown): error is Error {
  return (
    error instanceof IssuerError || error instanceof EgressError || error instanceof jose().errors.JOSEError
  );
}
