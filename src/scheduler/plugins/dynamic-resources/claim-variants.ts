/**
 * What a pod's claims are on a node. Extended resources that the node has itself need no devices; for the others one claim is made, once a node is
 * chosen. Nodes that lack the same ones share an allocator.
 */

import type { ContainerExtendedResourceRequest } from "../../../api/generated/types/core-v1.ts";
import type { DeviceClass, ResourceClaim } from "../../../api/generated/types/resource-v1.ts";
import type { NodeInfo } from "../../snapshot/node-info.ts";
import type { PodInfo } from "../../snapshot/pod-info.ts";
import type { ClaimAllocator } from "./claim-allocator.ts";
import { extendedRequests } from "./extended-requests.ts";

/** No claim can have this name. */
const IN_MEMORY = "<extended-resources>";

/** A claim that is to be made. */
export interface SpecialClaim {
  readonly claim: ResourceClaim;
  readonly mappings: readonly ContainerExtendedResourceRequest[];
}

export interface Variant {
  /** Of claims that have no devices yet; undefined when there are none. */
  readonly allocator: ClaimAllocator | undefined;
  readonly special: SpecialClaim | undefined;
}

interface VariantParts {
  readonly pod: PodInfo;
  /** What the pod asks for that classes stand for. */
  readonly classes: ReadonlyMap<string, DeviceClass>;
  /** For the claims that there are, and for this one. */
  readonly makeAllocator: (special: ResourceClaim | undefined) => ClaimAllocator | undefined;
}

export class ClaimVariants {
  readonly #parts: VariantParts;
  /** By what nodes lack. */
  readonly #made = new Map<string, Variant>();

  constructor(parts: VariantParts) {
    this.#parts = parts;
  }

  on({ allocatable }: NodeInfo): Variant {
    const { classes } = this.#parts;
    const lacking = [...classes].filter(([name]) => (allocatable.others.get(name) ?? 0) === 0);
    const key = lacking.map(([name]) => name).join();
    const made = this.#made.get(key) ?? this.#make(new Map(lacking));
    this.#made.set(key, made);
    return made;
  }

  /** Those that nodes were looked at for. */
  all(): Iterable<Variant> {
    return this.#made.values();
  }

  #make(classes: ReadonlyMap<string, DeviceClass>): Variant {
    const { pod, makeAllocator } = this.#parts;
    const special = classes.size === 0 ? undefined : specialClaim(pod, classes);
    return { special, allocator: makeAllocator(special?.claim) };
  }
}

function specialClaim(
  { pod, uid, namespace }: PodInfo,
  classes: ReadonlyMap<string, DeviceClass>,
): SpecialClaim {
  const { requests, mappings } = extendedRequests(pod.spec, classes);
  const claim = {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaim",
    // Known by the pod until it is made.
    metadata: { name: IN_MEMORY, namespace, uid: `${uid}${IN_MEMORY}` },
    spec: { devices: { requests } },
    status: {},
  } as unknown as ResourceClaim;
  return { claim, mappings };
}
