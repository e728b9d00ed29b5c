/** Tries nodes for the claims of one pod. Node-independent input is computed once. */

import type { Node } from "../../../api/generated/types/core-v1.ts";
import type { AllocationResult, ResourceClaim } from "../../../api/generated/types/resource-v1.ts";
import { allocationResult } from "./allocation-result.ts";
import { AllocationSearch, type SearchScope } from "./allocation-search.ts";
import { AllocationTimeout } from "./allocation-timeout.ts";
import type { Choice } from "./chosen-devices.ts";
import type { ClaimRequest } from "./claim-requests.ts";
import type { DevicePools } from "./device-pools.ts";
import type { DeviceSelectors } from "./device-selectors.ts";
import type { DevicesInUse } from "./devices-in-use.ts";
import { PoolCounters } from "./pool-counters.ts";

/** Upper bounds of device checks: some milliseconds per node, some tens per pod. More would block other pods. */
const NODE_STEPS_MAX = 20_000;
const POD_STEPS_MAX = 200_000;
/** Upper bound of alternatives in one request, set by the API. */
const ALTERNATIVES_MAX = 8;

const NO_SOLUTION = "cannot allocate all claims";
const INVALID_POOLS = "invalid resource pools were encountered";

export interface AllocatorParts {
  readonly claims: readonly ResourceClaim[];
  readonly requests: readonly ClaimRequest[];
  readonly pools: DevicePools;
  readonly inUse: DevicesInUse;
  readonly selectors: DeviceSelectors;
}

export class ClaimAllocator {
  readonly claims: readonly ResourceClaim[];
  readonly #scope: SearchScope;
  readonly #found = new Map<string, readonly Choice[]>();
  #stepsLeft = POD_STEPS_MAX;

  constructor({ claims, requests, pools, inUse, selectors }: AllocatorParts) {
    this.claims = claims;
    const matcher = selectors.matcher();
    this.#scope = { claims, requests, pools, inUse, counters: new PoolCounters(pools, inUse), matcher };
  }

  /** Reason, in upstream's words, why the claims cannot be allocated on the node; undefined if they can. */
  tryNode(node: Node): string | undefined {
    const on = this.#scope.pools.onNode(node);
    const steps = Math.min(NODE_STEPS_MAX, this.#stepsLeft);
    const search = new AllocationSearch(this.#scope, on, steps);
    try {
      const choices = search.run();
      if (choices === undefined) return on.invalid === undefined ? NO_SOLUTION : INVALID_POOLS;
      this.#found.set(node.metadata.name, choices);
      return undefined;
    } catch (error) {
      if (error instanceof AllocationTimeout) return error.message;
      throw error;
    } finally {
      this.#stepsLeft -= steps - search.stepsLeft;
    }
  }

  /** Allocations of the claims on a node that passed. */
  resultsOn(nodeName: string, shareId: () => string): readonly AllocationResult[] {
    const found = this.#found.get(nodeName) ?? [];
    return this.claims.map((claim, index) => {
      const choices = found.filter(({ claimIndex }) => claimIndex === index);
      return allocationResult(claim, choices, { nodeName, shareId });
    });
  }

  /** True if a request has several alternatives, so that nodes can differ. */
  get hasAlternatives(): boolean {
    return this.#scope.requests.some(({ alternatives }) => alternatives.length > 1);
  }

  /** Higher if requests get their preferred alternatives. */
  score(nodeName: string): number {
    const chosen = new Set(this.#found.get(nodeName)?.map(({ alternative }) => alternative));
    let score = 0;
    for (const { alternatives } of this.#scope.requests) {
      const at = alternatives.findIndex((it) => it.name !== it.requestName && chosen.has(it));
      if (at !== -1) score += ALTERNATIVES_MAX - at;
    }
    return score;
  }
}
