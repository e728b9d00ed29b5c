/** Validates the load balancer status of a Service or an Ingress. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import { fieldPath } from "../../api/errors/field-error.ts";
import type { LoadBalancerIngress, Service } from "../../api/generated/types/core-v1.ts";
import { findIpAddress, legacyIpAddress } from "../../api/values/ip-address.ts";
import { dns1123Subdomain } from "../../api/values/names.ts";
import { checkChoice } from "../rules/value-rules.ts";

const INGRESS = fieldPath("status", "loadBalancer", "ingress");

export function checkServiceStatus({ spec, status }: Service, errors: FieldErrors): void {
  const { ingress = [] } = status.loadBalancer;
  if (ingress.length > 0 && spec.type !== "LoadBalancer") {
    errors.forbidden(INGRESS, 'may only be used when `spec.type` is "LoadBalancer"');
    return;
  }
  for (const [i, entry] of ingress.entries()) {
    checkIngressPoint(entry, INGRESS.index(i), errors);
    checkIpMode(entry, INGRESS.index(i).child("ipMode"), errors);
  }
}

/** Address or host name of a load balancer; Ingress uses the check too. */
export function checkIngressPoint(
  { ip = "", hostname = "" }: Pick<LoadBalancerIngress, "ip" | "hostname">,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (ip !== "") errors.invalidFor(path.child("ip"), ip, legacyIpAddress(ip));
  if (hostname === "") return;
  errors.invalidFor(path.child("hostname"), hostname, dns1123Subdomain(hostname));
  if (findIpAddress(hostname) !== undefined) {
    errors.invalid(path.child("hostname"), hostname, "must be a DNS name, not an IP address");
  }
}

function checkIpMode({ ip = "", ipMode }: LoadBalancerIngress, path: FieldPath, errors: FieldErrors): void {
  if (ip !== "" && ipMode === undefined) errors.required(path, "must be specified when `ip` is set");
  if (ip === "" && ipMode !== undefined) errors.forbidden(path, "may not be specified when `ip` is not set");
  checkChoice({ path, value: ipMode, among: ["Proxy", "VIP"] }, errors);
}

/** Addresses and host names, sorted and unique, for tables. */
export function ingressPoints(
  ingress: readonly Pick<LoadBalancerIngress, "ip" | "hostname">[],
): readonly string[] {
  const found = ingress.map(({ ip, hostname }) => ip ?? hostname ?? "").filter((text) => text !== "");
  return [...new Set(found)].toSorted();
}
