/**
 * Claims of a pod on a node, extended resources included.
 *
 * A resource that the node itself offers needs no devices. For the others one claim is created once the node is chosen. Nodes that lack the
 * same resources share an allocator.
 */

import type { ContainerExtendedResourceRequest } from "../../../api/generated/types/core-v1.ts";
import type { DeviceClass, ResourceClaim } from "../../../api/generated/types/resource-v1.ts";
import type { NodeInfo } from "../../snapshot/node-info.ts";
import type { PodInfo } from "../../snapshot/pod-info.ts";
import type { ClaimAllocator } from "./claim-allocator.ts";
import { extendedRequests } from "./extended-requests.ts";

/** Placeholder that is no valid object name. */
const IN_MEMORY = "<extended-resources>";

/** A claim that is yet to be created. */
export interface SpecialClaim {
  readonly claim: ResourceClaim;
  readonly mappings: readonly ContainerExtendedResourceRequest[];
}

export interface Variant {
  /** Allocator of the unallocated claims; undefined if there are none. */
  readonly allocator: ClaimAllocator | undefined;
  readonly special: SpecialClaim | undefined;
}

interface VariantParts {
  readonly pod: PodInfo;
  /** Device classes for the pod's extended resources, by resource name. */
  readonly classes: ReadonlyMap<string, DeviceClass>;
  /** Makes an allocator for the existing claims and the special one. */
  readonly makeAllocator: (special: ResourceClaim | undefined) => ClaimAllocator | undefined;
}

export class ClaimVariants {
  readonly #parts: VariantParts;
  /** Variants by the resources that nodes lack. */
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

  /** Variants of the nodes checked so far. */
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
    // The uid is derived from the pod's until the claim is created.
    metadata: { name: IN_MEMORY, namespace, uid: `${uid}${IN_MEMORY}` },
    spec: { devices: { requests } },
    status: {},
  } as ResourceClaim;
  return { claim, mappings };
}
