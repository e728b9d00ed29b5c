/** Records on token Secrets the day of their last use. */
import { isApiError } from "../../api/errors/api-error.ts";
import type { Secret } from "../../api/generated/types/core-v1.ts";
import type { Log } from "../../base/log/log.ts";
import { dayText, LAST_USED } from "../../resources/core/legacy-token.ts";
import { isStoreError } from "../../store/store-error.ts";
import type { Registry } from "../objects/registry.ts";
import { requireStored } from "../objects/registry.ts";
import type { WriteParts } from "../verbs/writing.ts";
import { ServerWriter } from "./server-writer.ts";

interface TokenUseParts extends WriteParts {
  readonly log: Log;
  readonly registry: Registry;
}

export class TokenUses {
  readonly #verbParts: TokenUseParts;
  readonly #writer: ServerWriter;
  /** Uids of Secrets with a write in flight. Concurrent requests need only one write. */
  readonly #writing = new Set<string>();

  constructor(verbParts: TokenUseParts) {
    this.#verbParts = verbParts;
    this.#writer = new ServerWriter(verbParts);
  }

  /** Returns at once: the request with the token does not wait for the write. */
  note(secret: Secret): void {
    const { uid } = secret.metadata;
    if (this.#writing.has(uid)) return;
    this.#writing.add(uid);
    const { loop, log } = this.#verbParts;
    loop.post("background", () => {
      this.#write(secret)
        .catch((error: unknown) => {
          // The next use retries.
          if (isStoreError(error, "Closed") || isApiError(error, "Conflict")) return;
          const { namespace, name } = secret.metadata;
          log.warn("failed to record the last use of a token", { namespace, name, error });
        })
        .finally(() => this.#writing.delete(uid));
    });
  }

  async #write({ metadata: { uid, namespace = "", name } }: Secret): Promise<void> {
    const { registry, loop } = this.#verbParts;
    const place = { resource: requireStored(registry, "", "secrets"), namespace, name };
    const live = this.#writer.find(place) as Secret | undefined;
    if (live === undefined || live.metadata.uid !== uid) return;
    const labels = { ...live.metadata.labels, [LAST_USED]: dayText(loop.now()) };
    const wanted = { ...live, metadata: { ...live.metadata, labels } };
    await this.#writer.update(place, wanted, "");
  }
}
