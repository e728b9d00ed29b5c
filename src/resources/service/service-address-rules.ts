/** Validates cluster IPs and IP families of a Service: at most one of each family, and immutable once set. */

import { type FieldErrors, fieldPath } from "../../api/errors/field-error.ts";
import type { Service, ServiceSpec } from "../../api/generated/types/core-v1.ts";
import { findIpAddress, legacyIpAddress } from "../../api/values/ip-address.ts";
import { isDualStack } from "../rules/address-rules.ts";
import { addNew, checkChoice } from "../rules/value-rules.ts";
import { isHeadless } from "./service-shape.ts";

const IPS = fieldPath("spec", "clusterIPs");
const FAMILIES = fieldPath("spec", "ipFamilies");
const POLICY = fieldPath("spec", "ipFamilyPolicy");

/** The server also calls it before allocation, which relies on valid addresses. */
export function checkServiceAddresses(it: Service, errors: FieldErrors): void {
  const { spec } = it;
  if (spec.type === "ExternalName") return;
  checkFirstMatches(spec, errors);
  const seen = new Set<string>();
  for (const [i, family] of (spec.ipFamilies ?? []).entries()) {
    checkChoice({ path: FAMILIES.index(i), value: family, among: ["IPv4", "IPv6"] }, errors);
    if (!addNew<string>(seen, family)) errors.duplicate(FAMILIES.index(i), family);
  }
  const policies = ["PreferDualStack", "RequireDualStack", "SingleStack"];
  checkChoice({ path: POLICY, value: spec.ipFamilyPolicy, among: policies }, errors);
  // Skips checks that would only repeat the error of an invalid address.
  if (checkEachAddress(spec.clusterIPs ?? [], errors)) checkFamiliesOfAddresses(it, errors);
}

function checkFirstMatches({ clusterIP = "", clusterIPs = [] }: ServiceSpec, errors: FieldErrors): void {
  if (clusterIP === "") {
    if (clusterIPs.length > 0)
      errors.invalid(IPS, clusterIPs, "must be empty when `clusterIP` is not specified");
  } else if (clusterIPs.length === 0) {
    errors.required(IPS);
  } else if (clusterIPs[0] !== clusterIP) {
    errors.invalid(IPS, clusterIPs, "first value must match `clusterIP`");
  }
}

function checkEachAddress(ips: readonly string[], errors: FieldErrors): boolean {
  let isGood = true;
  for (const [i, ip] of ips.entries()) {
    if (i === 0 && ip === "None") {
      if (ips.length === 1) continue;
      isGood = false;
      errors.invalid(IPS, ips, "'None' must be the first and only value");
      continue;
    }
    const problems = legacyIpAddress(ip);
    if (problems.length > 0) isGood = false;
    errors.invalidFor(IPS.index(i), ip, problems);
  }
  if (ips.length > 2) errors.invalid(IPS, ips, "may only hold up to 2 values");
  return isGood;
}

function checkFamiliesOfAddresses(it: Service, errors: FieldErrors): void {
  const { clusterIPs = [], ipFamilies = [] } = it.spec;
  const found = clusterIPs.map((ip) => findIpAddress(ip)?.family);
  if (clusterIPs.length > 1 && !isDualStack(found)) {
    errors.invalid(IPS, clusterIPs, "may specify no more than one IP for each IP family");
  }
  if (isHeadless(it)) return;
  for (const [i, ip] of clusterIPs.entries()) {
    const expected = ipFamilies[i];
    if ((expected !== "IPv4" && expected !== "IPv6") || expected === found[i]) continue;
    errors.invalid(IPS.index(i), ip, `expected an ${expected} value as indicated by \`ipFamilies[${i}]\``);
  }
}

/**
 * The secondary address may change. The primary stays, except when the type changes to or from ExternalName.
 */
export function checkAddressChanges(next: Service, previous: Service, errors: FieldErrors): void {
  if (next.spec.type === "ExternalName" || previous.spec.type === "ExternalName") return;
  if (isHeadless(next) && isHeadless(previous)) return;
  checkListChange({ next: next.spec, previous: previous.spec, field: "clusterIPs" }, errors);
  if (isHeadless(next) !== isHeadless(previous)) return;
  checkListChange({ next: next.spec, previous: previous.spec, field: "ipFamilies" }, errors);
}

interface ListChange {
  readonly next: ServiceSpec;
  readonly previous: ServiceSpec;
  readonly field: "clusterIPs" | "ipFamilies";
}

function checkListChange({ next, previous, field }: ListChange, errors: FieldErrors): void {
  const before = previous[field] ?? [];
  const after = next[field] ?? [];
  const isOfIps = field === "clusterIPs";
  const path = isOfIps ? IPS : FAMILIES;
  if (before.length !== after.length) {
    checkCountChange({ next, previous, field }, errors);
    return;
  }
  for (const [i, value] of before.entries()) {
    if (value !== after[i]) errors.invalid(path.index(isOfIps ? i : 0), after, "may not change once set");
  }
}

/** Checks an added or removed secondary address. Upstream's errors show the addresses, also for families. */
function checkCountChange({ next, previous, field }: ListChange, errors: FieldErrors): void {
  const [path, singular] = field === "clusterIPs" ? [IPS, "clusterIP"] : [FAMILIES, "ipFamily"];
  const { length, 0: first } = previous[field] ?? [];
  const { clusterIPs = [], [field]: after = [] } = next;
  // Omitted families are no error while the addresses are kept: families follow from addresses.
  if (after.length < length && clusterIPs.length === 0) {
    errors.invalid(path.index(0), next[field], `primary ${singular} can not be unset`);
  }
  if (after.length > 0 && first !== undefined && after[0] !== first) {
    errors.invalid(path.index(0), clusterIPs, "may not change once set");
  }
  if (after.length === 1 && length > 1) checkRelease(next, singular, errors);
}

function checkRelease({ ipFamilyPolicy }: ServiceSpec, singular: string, errors: FieldErrors): void {
  if (ipFamilyPolicy === "SingleStack") return;
  const detail = `must be set to 'SingleStack' when releasing the secondary ${singular}`;
  errors.invalid(POLICY, ipFamilyPolicy, detail);
}
