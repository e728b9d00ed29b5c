/** What claims ask for, request by request. */

import type {
  DeviceClass,
  DeviceRequest,
  DeviceSelector,
  DeviceToleration,
  ResourceClaim,
} from "../../../api/generated/types/resource-v1.ts";
import { plainNumber } from "../../../api/values/plain-number.ts";

/** One request of a claim. Alternatives are tried in their order. */
export interface Wish {
  /** The place of its claim among those that are to be allocated together. */
  readonly claimIndex: number;
  readonly alternatives: readonly Alternative[];
}

export interface Alternative {
  /** Of the request, and behind a slash of the alternative where there are some. */
  readonly name: string;
  readonly requestName: string;
  /** Namespace and name of its claim, for messages. */
  readonly claimKey: string;
  readonly deviceClass: DeviceClass;
  readonly selectors: readonly DeviceSelector[];
  readonly tolerations: readonly DeviceToleration[];
  /** How much of a device's capacity it asks for, by name. */
  readonly capacity: Readonly<Record<string, string>>;
  /** Looks on, whoever uses the device. */
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

export type Wishes =
  | { readonly type: "wishes"; readonly wishes: readonly Wish[] }
  /** In upstream's words. */
  | { readonly type: "missing"; readonly reason: string };

type FindClass = (name: string) => DeviceClass | undefined;

export function readWishes(claims: readonly ResourceClaim[], findClass: FindClass): Wishes {
  const wishes: Wish[] = [];
  for (const [claimIndex, claim] of claims.entries()) {
    for (const request of claim.spec.devices.requests) {
      const alternatives = readAlternatives(claim, request, findClass);
      if (typeof alternatives === "string") return { type: "missing", reason: alternatives };
      wishes.push({ claimIndex, alternatives });
    }
  }
  return { type: "wishes", wishes };
}

/** A text says what is missing. */
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
