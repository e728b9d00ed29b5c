/**
 * Marks ServiceCIDRs as ready, and keeps deleted ones until no Service uses an address of them.
 *
 * Reads ServiceCIDRs and IPAddresses. Adds and removes a finalizer on ServiceCIDRs; writes their Ready condition.
 */
import type { ObjectKey } from "../api/api-object.ts";
import { IPAddress, ServiceCIDR } from "../api/generated/types/networking-v1.ts";
import { cidrContains, findCidr, findIpAddress, networkAddress } from "../api/values/ip-address.ts";
import type { Cidr } from "../api/values/ip-address.ts";
import { withCondition } from "../runtime/controller/conditions.ts";
import type { NewCondition } from "../runtime/controller/conditions.ts";
import { defineController, watching } from "../runtime/controller/controller.ts";
import type { CacheReader, Outcome, ReconcileContext } from "../runtime/controller/controller.ts";

export const serviceCidrController = defineController({
  name: "service-cidr-controller",
  for: ServiceCIDR,
  finalizer: "networking.k8s.io/service-cidr-finalizer",
  watches: [
    watching(ServiceCIDR, (_, read) => leavingRanges(read)),
    watching(IPAddress, (_, read) => leavingRanges(read)),
  ],
  reconcile,
  finalize,
});

const MANAGED_BY = "ipallocator.k8s.io";
/** After this delay every server has stopped allocating addresses from the range. */
const GRACE_MS = 10_000;
/** Safety net: changes that free the range trigger a reconcile anyway. */
const BLOCKED_MS = 300_000;

const READY: NewCondition = {
  type: "Ready",
  status: "True",
  reason: "",
  message: "Kubernetes Service CIDR is ready",
};
const TERMINATING: NewCondition = {
  type: "Ready",
  status: "False",
  reason: "Terminating",
  message:
    "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR",
};

async function reconcile(range: ServiceCIDR, context: ReconcileContext): Promise<Outcome> {
  await report(range, READY, context);
  return undefined;
}

async function finalize(range: ServiceCIDR, context: ReconcileContext): Promise<Outcome> {
  const { cache, clock } = context;
  if (isNeeded(range, cache(ServiceCIDR).list(), cache(IPAddress).list())) {
    await report(range, TERMINATING, context);
    return { recheckAfterMs: BLOCKED_MS, timer: "periodic" };
  }
  const leftMs = Date.parse(range.metadata.deletionTimestamp ?? "") + GRACE_MS - clock.now();
  return leftMs > 0 ? { recheckAfterMs: leftMs } : undefined;
}

async function report(range: ServiceCIDR, condition: NewCondition, context: ReconcileContext): Promise<void> {
  const conditions = withCondition(range.status.conditions, condition, { now: context.clock.now() });
  await context.updateStatus(range, { ...range.status, conditions });
}

/** Only ranges that are being deleted depend on other ranges and on addresses. */
function leavingRanges(read: CacheReader): readonly ObjectKey[] {
  const ranges = read(ServiceCIDR).list();
  return ranges
    .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
    .map(({ metadata }) => ({ name: metadata.name }));
}

/** True if a Service address would be in no other range. Ranges that are being deleted are no replacement. */
export function isNeeded(
  range: ServiceCIDR,
  ranges: readonly ServiceCIDR[],
  addresses: readonly IPAddress[],
): boolean {
  const own = blocksOf(range);
  const others = ranges
    .filter(
      ({ metadata }) => metadata.name !== range.metadata.name && metadata.deletionTimestamp === undefined,
    )
    .flatMap(blocksOf);
  if (own.every((block) => others.some((other) => isWithin(block, other)))) return false;
  return addresses.some(({ metadata: { name, labels } }) => {
    const address = findIpAddress(name);
    if (address === undefined || labels?.["ipaddress.kubernetes.io/managed-by"] !== MANAGED_BY) return false;
    return (
      own.some((block) => cidrContains(block, address)) &&
      !others.some((block) => cidrContains(block, address))
    );
  });
}

function blocksOf({ spec }: ServiceCIDR): readonly Cidr[] {
  return (spec.cidrs ?? []).flatMap((text) => findCidr(text) ?? []);
}

function isWithin(block: Cidr, other: Cidr): boolean {
  return other.prefixLength <= block.prefixLength && cidrContains(other, networkAddress(block));
}
