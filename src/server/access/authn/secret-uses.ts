import type { Secret } from "../../../api/generated/types/core-v1.ts";

/** Uses of tokens from Secrets. The authenticator reports them; upkeep listens and records them on the Secrets. */
export class SecretUses {
  #listener: (secret: Secret) => void = () => undefined;

  /** Replaces the listener. Without one, uses are not recorded. */
  onUse(listener: (secret: Secret) => void): void {
    this.#listener = listener;
  }

  report(secret: Secret): void {
    this.#listener(secret);
  }
}
