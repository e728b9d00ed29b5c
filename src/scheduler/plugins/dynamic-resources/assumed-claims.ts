/** Claims as the caches show them, plus this scheduler's newer knowledge: promised devices and writes that the caches lack. */

import { type AllocationResult, ResourceClaim } from "../../../api/generated/types/resource-v1.ts";
import { isSame } from "../../../resources/rules/value-rules.ts";
import type { CacheReader } from "../../../runtime/controller/controller.ts";
import { orderOfVersions } from "../../../runtime/refs/resource-version.ts";
import { DevicesInUse } from "./devices-in-use.ts";

export class AssumedClaims {
  readonly #cache: CacheReader;
  /** Promised but unwritten allocations by claim uid. */
  readonly #promised = new Map<string, AllocationResult>();
  /** Claims as the server returned them, by uid, until the cache catches up. */
  readonly #written = new Map<string, ResourceClaim>();
  /** Devices in use according to the cache; recomputed when its list changes. */
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

  /** Ends a promise: its allocation was written or cancelled. */
  settle({ metadata }: ResourceClaim, written?: ResourceClaim): void {
    this.#promised.delete(metadata.uid);
    if (written !== undefined) this.#written.set(metadata.uid, written);
  }

  /** All allocated devices. Freed ones count until the caches show the change. */
  devicesInUse(): DevicesInUse {
    const claims = this.#cache(ResourceClaim).list();
    if (this.#shown?.claims !== claims) {
      this.#shown = { claims, inUse: new DevicesInUse(allocationsOf(claims)) };
    }
    return new DevicesInUse(this.#notShown(), this.#shown.inUse);
  }

  /** Allocations that are promised, or written so recently that the caches lack them. */
  *#notShown(): Iterable<AllocationResult> {
    yield* this.#promised.values();
    for (const [uid, { metadata, status }] of [...this.#written]) {
      const { namespace = "", name } = metadata;
      const shown = this.#cache(ResourceClaim).find({ namespace, name });
      const isLate = shown?.metadata.uid === uid && this.#newest(shown) !== shown;
      const { allocation } = status;
      if (!isLate) this.#written.delete(uid);
      // The claim may have freed the cached devices and received others since.
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
