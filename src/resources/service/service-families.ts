/** Resolves the IP families of a Service from its spec, its stored version, and the cluster's families. */

import { type FieldErrors, fieldPath } from "../../api/errors/field-error.ts";
import type { Service, ServiceSpec } from "../../api/generated/types/core-v1.ts";
import { findIpAddress, type IpAddress } from "../../api/values/ip-address.ts";
import type { Draft } from "../rules/kind-rules.ts";
import { isSame } from "../rules/value-rules.ts";
import { isHeadless } from "./service-shape.ts";

export type IpFamily = IpAddress["family"];

export interface FamilyRequest {
  /** Families of the cluster; the default family is first. */
  readonly cluster: readonly IpFamily[];
  readonly previous: Service | undefined;
  readonly errors: FieldErrors;
}

/** Sets policy and families from the given addresses and the cluster's families. Runs before allocation. */
export function resolveIpFamilies(draft: Draft<Service>, { cluster, previous, errors }: FamilyRequest): void {
  const { spec } = draft;
  if (spec.type === "ExternalName" || keepsPreferredFamilies(spec, previous?.spec)) return;
  const hasForeign = hasForeignEndpoints(draft);
  spec.ipFamilyPolicy ??= previous?.spec.ipFamilyPolicy ?? (hasForeign ? "RequireDualStack" : "SingleStack");
  if (previous !== undefined) refuseLostFamilies(spec, previous.spec, errors);
  refuseSecondFamily(spec, errors);
  inferFamilies(spec, cluster, errors);
  // Skips steps whose errors would only follow from earlier ones.
  if (!errors.isEmpty) return;
  if (!hasForeign) refuseMissingFamilies(spec, cluster, errors);
  completeFamilies(spec, cluster, hasForeign ? ["IPv4", "IPv6"] : cluster);
}

/** Endpoints of a headless Service without a selector come from its user and may have any family. */
function hasForeignEndpoints(draft: Service): boolean {
  return isHeadless(draft) && Object.keys(draft.spec.selector ?? {}).length === 0;
}

/**
 * Requires the policy SingleStack to drop a family, so that a shorter list alone does not lose an address.
 */
function refuseLostFamilies(spec: ServiceSpec, previous: ServiceSpec, errors: FieldErrors): void {
  if (spec.ipFamilyPolicy === "SingleStack") return;
  const isReduced = (after: readonly string[] = [], before: readonly string[] = []): boolean =>
    after.length > 0 && after.length < before.length;
  const lost = [
    ...(isReduced(spec.clusterIPs, previous.clusterIPs) ? ["cluster IP"] : []),
    ...(isReduced(spec.ipFamilies, previous.ipFamilies) ? ["IP family"] : []),
  ];
  for (const what of lost) {
    const detail = `must be 'SingleStack' to release the secondary ${what}`;
    errors.invalid("spec.ipFamilyPolicy", spec.ipFamilyPolicy, detail);
  }
}

function refuseSecondFamily(
  { ipFamilyPolicy, clusterIPs = [], ipFamilies = [] }: ServiceSpec,
  errors: FieldErrors,
): void {
  if (ipFamilyPolicy !== "SingleStack") return;
  const several = [
    ...(clusterIPs.length === 2 ? ["cluster IPs"] : []),
    ...(ipFamilies.length === 2 ? ["IP families"] : []),
  ];
  for (const what of several) {
    const detail = `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`;
    errors.invalid("spec.ipFamilyPolicy", ipFamilyPolicy, detail);
  }
}

function refuseMissingFamilies(spec: ServiceSpec, cluster: readonly IpFamily[], errors: FieldErrors): void {
  if (spec.ipFamilyPolicy === "RequireDualStack" && cluster.length < 2) {
    const detail = "this cluster is not configured for dual-stack services";
    errors.invalid("spec.ipFamilyPolicy", spec.ipFamilyPolicy, detail);
  }
  for (const [i, family] of (spec.ipFamilies ?? []).entries()) {
    if (cluster.some((known) => known === family)) continue;
    errors.invalid(fieldPath("spec", "ipFamilies").index(i), family, "not configured on this cluster");
  }
}

/** The preference is resolved once: a later change of the cluster's families does not affect the Service. */
function keepsPreferredFamilies(spec: ServiceSpec, previous: ServiceSpec | undefined): boolean {
  if (previous?.ipFamilyPolicy !== "PreferDualStack" || spec.ipFamilyPolicy !== "PreferDualStack")
    return false;
  return isSame(spec.clusterIPs, previous.clusterIPs) && isSame(spec.ipFamilies, previous.ipFamilies);
}

function inferFamilies(spec: Draft<ServiceSpec>, cluster: readonly IpFamily[], errors: FieldErrors): void {
  const families = [...(spec.ipFamilies ?? [])];
  for (const [i, ip] of (spec.clusterIPs ?? []).entries()) {
    const family = findIpAddress(ip)?.family;
    if (family === undefined || i < families.length) continue;
    if (cluster.includes(family)) families.push(family);
    else {
      const detail = `${family} is not configured on this cluster`;
      errors.invalid(fieldPath("spec", "clusterIPs").index(i), spec.clusterIPs, detail);
    }
  }
  if (families.length > 0) spec.ipFamilies = families;
}

function completeFamilies(
  spec: Draft<ServiceSpec>,
  cluster: readonly IpFamily[],
  possible: readonly IpFamily[],
): void {
  const families = spec.ipFamilies?.length ? [...spec.ipFamilies] : cluster.slice(0, 1);
  if (spec.ipFamilyPolicy !== "SingleStack" && families.length === 1) {
    families.push(...possible.filter((family) => family !== families[0]).slice(0, 1));
  }
  spec.ipFamilies = families;
}
