/** Reads the requests of claims. */

import type {
  DeviceClass,
  DeviceRequest,
  DeviceSelector,
  DeviceToleration,
  ResourceClaim,
} from "../../../api/generated/types/resource-v1.ts";
import { plainNumber } from "../../../api/values/plain-number.ts";

/** One request of a claim. Alternatives are tried in order. */
export interface ClaimRequest {
  /** Index of the claim among those allocated together. */
  readonly claimIndex: number;
  readonly alternatives: readonly Alternative[];
}

export interface Alternative {
  /** Request name; with alternatives, `request/alternative`. */
  readonly name: string;
  readonly requestName: string;
  /** `namespace/name` of the claim, for messages. */
  readonly claimKey: string;
  readonly deviceClass: DeviceClass;
  readonly selectors: readonly DeviceSelector[];
  readonly tolerations: readonly DeviceToleration[];
  /** Requested capacity by name. */
  readonly capacity: Readonly<Record<string, string>>;
  /** Admin access: the device is shared with its users. */
  readonly isAdmin: boolean;
  readonly count: number | "all";
}

interface RequestLike {
  readonly deviceClassName: string;
  readonly selectors?: readonly DeviceSelector[];
  readonly tolerations?: readonly DeviceToleration[];
  readonly capacity?: { readonly requests?: Readonly<Record<string, string>> };
  readonly allocationMode?: string;
  readonly count?: number;
  readonly adminAccess?: boolean;
}

export type ClaimRequests =
  | { readonly type: "found"; readonly requests: readonly ClaimRequest[] }
  /** Reason in upstream's words. */
  | { readonly type: "missing"; readonly reason: string };

type FindClass = (name: string) => DeviceClass | undefined;

export function readClaimRequests(claims: readonly ResourceClaim[], findClass: FindClass): ClaimRequests {
  const requests: ClaimRequest[] = [];
  for (const [claimIndex, claim] of claims.entries()) {
    for (const request of claim.spec.devices.requests) {
      const alternatives = readAlternatives(claim, request, findClass);
      if (typeof alternatives === "string") return { type: "missing", reason: alternatives };
      requests.push({ claimIndex, alternatives });
    }
  }
  return { type: "found", requests };
}

/** A text is the reason why a class is missing. */
function readAlternatives(
  claim: ResourceClaim,
  { name: requestName, exactly, firstAvailable = [] }: DeviceRequest,
  findClass: FindClass,
): readonly Alternative[] | string {
  const asked: readonly (readonly [string, RequestLike])[] =
    exactly === undefined
      ? firstAvailable.map((each) => [`${requestName}/${each.name}`, each])
      : [[requestName, exactly]];
  const alternatives: Alternative[] = [];
  for (const [name, request] of asked) {
    const deviceClass = findClass(request.deviceClassName);
    if (deviceClass === undefined) {
      return `request ${name}: device class ${request.deviceClassName} does not exist`;
    }
    alternatives.push({ name, requestName, claimKey: claimKey(claim), deviceClass, ...partsOf(request) });
  }
  return alternatives;
}

function partsOf({
  selectors = [],
  tolerations = [],
  capacity,
  allocationMode,
  count = 1,
  adminAccess,
}: RequestLike): Pick<Alternative, "selectors" | "tolerations" | "capacity" | "isAdmin" | "count"> {
  return {
    selectors,
    tolerations,
    capacity: capacity?.requests ?? {},
    isAdmin: adminAccess === true,
    count: allocationMode === "All" ? "all" : plainNumber(count),
  };
}

export function claimKey({ metadata }: ResourceClaim): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}
