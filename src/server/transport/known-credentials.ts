/**
 * Remembers verified credentials and their users, as digests and never as text. Only the order of requests
 * depends on them: a request with a known credential is queued for its user before it is verified.
 */
import { createHash } from "node:crypto";

/** More than a busy server has clients. */
const CREDENTIALS_MAX = 8192;
/** Longer credentials are not remembered: hashing them costs more than it saves. */
const CHARS_MAX = 16 * 1024;

export class KnownCredentials {
  /** Users by digest, oldest first. */
  readonly #users = new Map<string, string>();

  find(credential: string): string | undefined {
    if (this.#users.size === 0 || credential.length > CHARS_MAX) return undefined;
    return this.#users.get(digestOf(credential));
  }

  learn(credential: string, user: string): void {
    if (credential.length > CHARS_MAX) return;
    const digest = digestOf(credential);
    this.#users.delete(digest);
    this.#users.set(digest, user);
    if (this.#users.size <= CREDENTIALS_MAX) return;
    const [oldest] = this.#users.keys();
    if (oldest !== undefined) this.#users.delete(oldest);
  }

  forget(credential: string): void {
    if (this.#users.size > 0) this.#users.delete(digestOf(credential));
  }
}

function digestOf(credential: string): string {
  return createHash("sha256").update(credential).digest("base64");
}
