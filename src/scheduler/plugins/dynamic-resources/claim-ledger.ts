/**
 * Claims as the caches show them, and what this scheduler knows better: devices that it is about to give away, and claims that it has written and the
 * caches do not show yet.
 */

import { type AllocationResult, ResourceClaim } from "../../../api/generated/types/resource-v1.ts";
import type { CacheReader } from "../../../runtime/controller.ts";
import { orderOfVersions } from "../../../runtime/resource-version.ts";

export class ClaimLedger {
  readonly #cache: CacheReader;
  /** Promised, and not written; by the uid of the claim. */
  readonly #promised = new Map<string, AllocationResult>();
  /** As the server answered; by uid, until the cache has caught up. */
  readonly #written = new Map<string, ResourceClaim>();

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

  /** All that is given away. */
  *allocations(): Iterable<AllocationResult> {
    yield* this.#promised.values();
    const seen = new Set<string>();
    for (const shown of this.#cache(ResourceClaim).list()) {
      const { status, metadata } = this.#newest(shown);
      if (this.#written.size > 0) seen.add(metadata.uid);
      if (status.allocation !== undefined) yield status.allocation;
    }
    for (const uid of [...this.#written.keys()]) if (!seen.has(uid)) this.#written.delete(uid);
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
