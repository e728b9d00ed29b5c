/**
 * Claims as the caches show them, and what this scheduler knows better: devices that it is about to give away, and claims that it has written and the
 * caches do not show yet.
 */

import { type AllocationResult, ResourceClaim } from "../../../api/generated/types/resource-v1.ts";
import { isSame } from "../../../resources/rules/value-rules.ts";
import type { CacheReader } from "../../../runtime/controller/controller.ts";
import { orderOfVersions } from "../../../runtime/refs/resource-version.ts";
import { DevicesInUse } from "./devices-in-use.ts";

export class ClaimLedger {
  readonly #cache: CacheReader;
  /** Promised, and not written; by the uid of the claim. */
  readonly #promised = new Map<string, AllocationResult>();
  /** As the server answered; by uid, until the cache has caught up. */
  readonly #written = new Map<string, ResourceClaim>();
  /** What the caches show to be in use. They are read anew when they have changed. */
  #shown: { readonly claims: readonly ResourceClaim[]; readonly inUse: DevicesInUse } | undefined;

  constructor(cache: CacheReader) {
    this.#cache = cache;
  }

  find(key: { readonly namespace: string; readonly name: string }): ResourceClaim | undefined {
    const shown = this.#cache(ResourceClaim).find(key);
    return shown && this.#newest(shown);
  }

  isPromised({ metadata }: ResourceClaim): boolean {
    return this.#promised.has(metadata.uid);
  }

  promise({ metadata }: ResourceClaim, allocation: AllocationResult): void {
    this.#promised.set(metadata.uid, allocation);
  }

  /** What was promised is written, or will not be. */
  settle({ metadata }: ResourceClaim, written?: ResourceClaim): void {
    this.#promised.delete(metadata.uid);
    if (written !== undefined) this.#written.set(metadata.uid, written);
  }

  /** All that is given away. What was taken back counts until the caches show that. */
  devicesInUse(): DevicesInUse {
    const claims = this.#cache(ResourceClaim).list();
    if (this.#shown?.claims !== claims) {
      this.#shown = { claims, inUse: new DevicesInUse(allocationsOf(claims)) };
    }
    return new DevicesInUse(this.#notShown(), this.#shown.inUse);
  }

  /** Promised, or written so lately that the caches do not know. */
  *#notShown(): Iterable<AllocationResult> {
    yield* this.#promised.values();
    for (const [uid, { metadata, status }] of [...this.#written]) {
      const { namespace = "", name } = metadata;
      const shown = this.#cache(ResourceClaim).find({ namespace, name });
      const isLate = shown?.metadata.uid === uid && this.#newest(shown) !== shown;
      const { allocation } = status;
      if (!isLate) this.#written.delete(uid);
      // It may have given back what is shown, and have got something else since.
      else if (allocation !== undefined && !isSame(allocation, shown.status.allocation)) yield allocation;
    }
  }

  #newest(shown: ResourceClaim): ResourceClaim {
    const { uid, resourceVersion } = shown.metadata;
    const written = this.#written.size === 0 ? undefined : this.#written.get(uid);
    if (written === undefined) return shown;
    if (orderOfVersions(resourceVersion, written.metadata.resourceVersion) === "older") return written;
    this.#written.delete(uid);
    return shown;
  }
}

function* allocationsOf(claims: readonly ResourceClaim[]): Iterable<AllocationResult> {
  for (const { status } of claims) if (status.allocation !== undefined) yield status.allocation;
}
