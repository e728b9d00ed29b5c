/** Writes on Secrets that hold tokens when these were last used, to the day. */
import { isApiError } from "../../api/errors/api-error.ts";
import type { Secret } from "../../api/generated/types/core-v1.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import { dayText, LAST_USED } from "../../resources/core/legacy-token.ts";
import { isStoreError } from "../../store/store-error.ts";
import { requireStored } from "../objects/registry.ts";
import type { Workshop } from "../verbs/verb.ts";
import { HouseWriter } from "./server-writer.ts";

export class TokenUses {
  readonly #workshop: () => Workshop;
  /** Uids of Secrets that are being written: of many requests in one moment one is enough. */
  readonly #writing = new Set<string>();

  /** Asked for at the first use: what is found out of tokens is part of the workshop itself. */
  constructor(workshop: () => Workshop) {
    this.#workshop = workshop;
  }

  /** Whoever shows the token does not wait for it. */
  note(secret: Secret): void {
    const { uid } = secret.metadata;
    if (this.#writing.has(uid)) return;
    this.#writing.add(uid);
    const { loop, log } = this.#workshop();
    loop.post("background", () => {
      this.#write(secret)
        .catch((error: unknown) => {
          // The next use tries again.
          if (isStoreError(error, "Closed") || isApiError(error, "Conflict")) return;
          const { namespace, name } = secret.metadata;
          log.warn("when a token was used could not be noted", { namespace, name, error });
        })
        .finally(() => this.#writing.delete(uid));
    });
  }

  async #write({ metadata: { uid, namespace = "", name } }: Secret): Promise<void> {
    const workshop = this.#workshop();
    const writer = new HouseWriter(workshop);
    const place = { resource: requireStored(workshop.registry, "", "secrets"), namespace, name };
    const live = writer.find(place) as Secret | undefined;
    if (live === undefined || live.metadata.uid !== uid) return;
    const labels = { ...live.metadata.labels, [LAST_USED]: dayText(workshop.loop.now()) };
    const wanted = { ...live, metadata: { ...live.metadata, labels } };
    await writer.update(place, wanted as unknown as JsonObject, "");
  }
}
