/**
 * Reads the authorities, certificates and keys of one folder; creates or renews those missing or unusable. A key is
 * written before its certificate and never replaced; remove its file to change it. A certificate is replaced
 * atomically. The next start therefore completes a folder that a killed start left. Servers that start together on
 * one folder end with the same authorities: certificates are read before keys for this reason.
 */
import { createPublicKey } from "node:crypto";
import { join } from "node:path";
import { isSameKey } from "../../base/keys/same-key.ts";
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { findAge, findFault, isSelfSigned, parseCertificate, parsePrivateKey } from "./certificate-state.ts";
import { createFile, findFile, findKeyFile, replaceFile } from "./files.ts";
import { loadIssuer, makePrivateKey, type Issuer, type LeafRequest } from "./issuer.ts";

const KEY_MODE = 0o600;
const CERT_MODE = 0o644;

/** All in PEM. */
export interface KeyPair {
  readonly key: string;
  readonly cert: string;
}

/** An authority without a key cannot sign. The server still runs if it was given its certificates. */
export interface Authority {
  /** Base name of its files, for example `front-proxy-ca`. */
  readonly name: string;
  readonly cert: string;
  readonly key: string | undefined;
}

export interface TokenKeys {
  readonly privateKey: string;
  readonly publicKey: string;
}

export interface LeafPlan extends Pick<LeafRequest, "subject" | "usage" | "names"> {
  /** Base name of its files. */
  readonly name: string;
}

export class PkiFolder {
  readonly #dir: string;
  readonly #loop: Loop;
  readonly #log: Log;
  #issuer: Issuer | undefined;

  constructor({ dir, loop, log }: { readonly dir: string; readonly loop: Loop; readonly log: Log }) {
    this.#dir = dir;
    this.#loop = loop;
    this.#log = log;
  }

  async authority(name: string, commonName: string): Promise<Authority> {
    const cert = await this.#findCert(name);
    const key = await this.#findKey(name);
    if (cert === undefined) return this.#makeAuthority({ name, key }, commonName);
    const parsed = parseCertificate(cert, this.#path(`${name}.crt`));
    if (key !== undefined && !parsed.checkPrivateKey(parsePrivateKey(key, this.#path(`${name}.key`)))) {
      throw new Error(
        `${this.#path(`${name}.key`)} does not belong to ${name}.crt beside it: put the right one there, or remove both`,
      );
    }
    const age = findAge(parsed, this.#loop.now());
    if (age === undefined) return { name, cert, key };
    if (key !== undefined && isSelfSigned(parsed)) return this.#renewAuthority(name, { cert, key });
    if (age === "expired") throw new Error(`${this.#path(`${name}.crt`)} has expired: put a new one there`);
    this.#log.warn("an authority's certificate expires soon and cannot be renewed here: replace it", {
      authority: name,
    });
    return { name, cert, key };
  }

  async leaf(plan: LeafPlan, authority: Authority): Promise<KeyPair> {
    const cert = await this.#findCert(plan.name);
    const key = await this.#findKey(plan.name);
    const fault =
      cert === undefined || key === undefined ? "missing" : this.#findFault(plan, authority, { cert, key });
    if (cert !== undefined && key !== undefined) {
      if (fault === undefined) return { cert, key };
      if (fault === "expiring" && authority.key === undefined) return this.#keepExpiring(plan, { cert, key });
    }
    if (authority.key === undefined) {
      throw new Error(
        `${this.#path(`${plan.name}.crt`)} is ${String(fault)} and cannot be made because ${authority.name}.key is not beside it`,
      );
    }
    this.#log.info("issuing a certificate", { certificate: plan.name, because: fault });
    return this.#makeLeaf({ ...plan, key }, { cert: authority.cert, key: authority.key });
  }

  /** Undefined if the folder has neither the certificate nor the key of the authority. */
  async optionalLeaf(plan: LeafPlan, authority: Authority): Promise<KeyPair | undefined> {
    if (authority.key === undefined && (await this.#findCert(plan.name)) === undefined) return undefined;
    return this.leaf(plan, authority);
  }

  /** A public key file may hold several keys; the first belongs to the private key. */
  async tokenKeys(name: string): Promise<TokenKeys> {
    const path = this.#path(`${name}.pub`);
    const foundPublic = await findFile(path, this.#loop);
    const found = await this.#findKey(name);
    if (found === undefined && foundPublic !== undefined) {
      throw new Error(
        `${path} exists but ${name}.key does not: put it back, or remove both (existing tokens become invalid)`,
      );
    }
    const privateKey = found ?? (await this.#makeKey(name));
    const own = createPublicKey(parsePrivateKey(privateKey, this.#path(`${name}.key`)));
    if (foundPublic !== undefined && !isSameKey(createPublicKey(foundPublic), own)) {
      throw new Error(
        `${path} does not begin with the public key of ${name}.key: put the right one there, or remove both`,
      );
    }
    const text = own.export({ type: "spki", format: "pem" }).toString();
    const publicKey = foundPublic ?? (await this.#create(`${name}.pub`, text, CERT_MODE));
    return { privateKey, publicKey };
  }

  async #makeAuthority(
    { name, key: found }: { readonly name: string; readonly key: string | undefined },
    commonName: string,
  ): Promise<Authority> {
    const issuer = this.#loadIssuer();
    const key = found ?? (await this.#makeKey(name));
    const made = await issuer.authority(commonName, key);
    return { name, key, cert: await this.#create(`${name}.crt`, made, CERT_MODE) };
  }

  async #renewAuthority(name: string, { cert: old, key }: KeyPair): Promise<Authority> {
    this.#log.info("renewing the certificate of an authority", { authority: name });
    const issuer = this.#loadIssuer();
    const cert = await issuer.renewedAuthority({ cert: old, key });
    await this.#replaceCert(name, cert);
    return { name, key, cert };
  }

  async #makeLeaf(
    { name, key: found, subject, usage, names }: LeafPlan & { readonly key: string | undefined },
    authority: KeyPair,
  ): Promise<KeyPair> {
    const issuer = this.#loadIssuer();
    const key = found ?? (await this.#makeKey(name));
    const cert = await issuer.leaf({ subject, usage, names, key, authority });
    await this.#replaceCert(name, cert);
    return { key, cert };
  }

  #findFault({ name, names }: LeafPlan, authority: Authority, { cert, key }: KeyPair) {
    return findFault(parseCertificate(cert, this.#path(`${name}.crt`)), {
      key: parsePrivateKey(key, this.#path(`${name}.key`)),
      authority: parseCertificate(authority.cert, this.#path(`${authority.name}.crt`)),
      names,
      now: this.#loop.now(),
    });
  }

  #keepExpiring({ name }: LeafPlan, pair: KeyPair): KeyPair {
    this.#log.warn(
      "a certificate expires soon and cannot be renewed without its authority's key: replace it",
      { certificate: name },
    );
    return pair;
  }

  #loadIssuer(): Issuer {
    return (this.#issuer ??= loadIssuer(this.#loop));
  }

  #findCert(name: string): Promise<string | undefined> {
    return findFile(this.#path(`${name}.crt`), this.#loop);
  }

  #findKey(name: string): Promise<string | undefined> {
    return findKeyFile(this.#path(`${name}.key`), this.#loop);
  }

  #makeKey(name: string): Promise<string> {
    return this.#create(`${name}.key`, makePrivateKey(), KEY_MODE);
  }

  #create(file: string, text: string, mode: number): Promise<string> {
    return createFile({ path: this.#path(file), text, mode, loop: this.#loop });
  }

  #replaceCert(name: string, text: string): Promise<void> {
    return replaceFile({ path: this.#path(`${name}.crt`), text, mode: CERT_MODE, loop: this.#loop });
  }

  #path(file: string): string {
    return join(this.#dir, file);
  }
}
