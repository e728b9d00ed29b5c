/** Validates a Service regardless of its stored version. Addresses and ports are already allocated. */

import { type FieldErrors, fieldPath } from "../../api/errors/field-error.ts";
import type { Service } from "../../api/generated/types/core-v1.ts";
import { validateLabels } from "../../api/selectors/label-selector.ts";
import { legacyCidr, legacyIpAddress } from "../../api/values/ip-address.ts";
import { dns1123Subdomain, portNumber, qualifiedName } from "../../api/values/names.ts";
import { checkNonSpecialIp } from "../rules/address-rules.ts";
import { checkChoice, checkRequiredChoice } from "../rules/value-rules.ts";
import { checkServicePorts } from "./service-port-rules.ts";
import { isExternallyAccessible, isHeadless, needsClusterIp, needsHealthCheckPort } from "./service-shape.ts";

const SPEC = fieldPath("spec");
const ONLY_LOAD_BALANCER = "may only be used when `type` is 'LoadBalancer'";
const SOURCE_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges";
const RANGES_ANNOTATION = fieldPath("metadata", "annotations").key(SOURCE_RANGES);
const TOPOLOGY_MODE = "service.kubernetes.io/topology-mode";
const TOPOLOGY_HINTS = "service.kubernetes.io/topology-aware-hints";
const AFFINITY_SECONDS_MAX = 86_400;

export function checkService(it: Service, errors: FieldErrors): void {
  checkTopologyAnnotations(it, errors);
  checkType(it, errors);
  checkServicePorts(it, errors);
  validateLabels(it.spec.selector ?? {}, SPEC.child("selector"), errors);
  checkAffinity(it, errors);
  for (const [i, ip] of (it.spec.externalIPs ?? []).entries()) {
    const path = SPEC.child("externalIPs").index(i);
    const problems = legacyIpAddress(ip);
    errors.invalidFor(path, ip, problems);
    if (problems.length === 0) checkNonSpecialIp(ip, path, errors);
  }
  checkLoadBalancer(it, errors);
  checkExternalTraffic(it, errors);
  checkInternalTraffic(it, errors);
}

function checkTopologyAnnotations({ metadata: { annotations = {} } }: Service, errors: FieldErrors): void {
  const mode = annotations[TOPOLOGY_MODE];
  const hints = annotations[TOPOLOGY_HINTS];
  if (mode === undefined || hints === undefined || mode === hints) return;
  const detail = `must match annotations[${TOPOLOGY_HINTS}] when both are specified`;
  errors.invalid(fieldPath("metadata", "annotations").key(TOPOLOGY_MODE), mode, detail);
}

function checkType(it: Service, errors: FieldErrors): void {
  const { type } = it.spec;
  const types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
  if (type === "ExternalName") checkExternalName(it, errors);
  if ((type === "LoadBalancer" || type === "NodePort") && isHeadless(it)) {
    errors.invalid("spec.clusterIPs[0]", "None", `may not be set to 'None' for ${type} services`);
  }
  checkRequiredChoice({ path: SPEC.child("type"), value: type, among: types }, errors);
}

function checkExternalName({ spec }: Service, errors: FieldErrors): void {
  for (const field of ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] as const) {
    if ((spec[field] ?? "").length > 0) {
      errors.forbidden(SPEC.child(field), "may not be set for ExternalName services");
    }
  }
  // A trailing dot marks a fully qualified name.
  const name = (spec.externalName ?? "").replace(/\.$/, "");
  if (name === "") errors.required(SPEC.child("externalName"));
  else errors.invalidFor(SPEC.child("externalName"), name, dns1123Subdomain(name));
}

function checkAffinity({ spec }: Service, errors: FieldErrors): void {
  const path = SPEC.child("sessionAffinityConfig");
  const { sessionAffinity, sessionAffinityConfig } = spec;
  const among = ["ClientIP", "None"];
  checkRequiredChoice({ path: SPEC.child("sessionAffinity"), value: sessionAffinity, among }, errors);
  if (sessionAffinity === "None" && sessionAffinityConfig !== undefined) {
    errors.forbidden(path, "must not be set when session affinity is None");
  }
  if (sessionAffinity !== "ClientIP") return;
  const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds;
  if (seconds === undefined) {
    errors.required(path, "when session affinity type is ClientIP");
  } else if (seconds <= 0 || seconds > AFFINITY_SECONDS_MAX) {
    const detail = `must be greater than 0 and less than ${AFFINITY_SECONDS_MAX}`;
    errors.invalid(path.child("clientIP", "timeoutSeconds"), seconds, detail);
  }
}

function checkLoadBalancer(it: Service, errors: FieldErrors): void {
  const { type, allocateLoadBalancerNodePorts, loadBalancerClass } = it.spec;
  checkSourceRanges(it, errors);
  if (type === "LoadBalancer") {
    if (allocateLoadBalancerNodePorts === undefined) errors.required("allocateLoadBalancerNodePorts");
    if (loadBalancerClass !== undefined) {
      errors.invalidFor("spec.loadBalancerClass", loadBalancerClass, qualifiedName(loadBalancerClass));
    }
    return;
  }
  if (allocateLoadBalancerNodePorts !== undefined) {
    errors.forbidden("spec.allocateLoadBalancerNodePorts", ONLY_LOAD_BALANCER);
  }
  if (loadBalancerClass !== undefined) errors.forbidden("spec.loadBalancerClass", ONLY_LOAD_BALANCER);
}

/**
 * Checks the field, or the annotation that predates it. Blanks around a block are valid, as they were in the
 * annotation.
 */
function checkSourceRanges({ metadata, spec }: Service, errors: FieldErrors): void {
  const annotation = metadata.annotations?.[SOURCE_RANGES];
  const inField = spec.loadBalancerSourceRanges ?? [];
  if (inField.length === 0 && annotation === undefined) return;
  const field = SPEC.child("LoadBalancerSourceRanges");
  const ranges =
    inField.length > 0
      ? inField.map((text, i) => ({ text, path: field.index(i) }))
      : annotatedRanges(annotation ?? "").map((text) => ({ text, path: RANGES_ANNOTATION }));
  if (spec.type !== "LoadBalancer")
    errors.forbidden(inField.length > 0 ? field : RANGES_ANNOTATION, ONLY_LOAD_BALANCER);
  for (const { text, path } of ranges) errors.invalidFor(path, text.trim(), legacyCidr(text.trim()));
}

function annotatedRanges(annotation: string): readonly string[] {
  return annotation.trim() === "" ? [] : annotation.split(",");
}

function checkExternalTraffic({ spec }: Service, errors: FieldErrors): void {
  const path = SPEC.child("externalTrafficPolicy");
  const { externalTrafficPolicy: policy, healthCheckNodePort: port } = spec;
  if (isExternallyAccessible(spec)) {
    checkRequiredChoice({ path, value: policy, among: ["Cluster", "Local"] }, errors);
  } else if (policy !== undefined) {
    errors.invalid(path, policy, "may only be set for externally-accessible services");
  }
  const portPath = SPEC.child("healthCheckNodePort");
  // An absent port is allocated with the other ports.
  if (port === undefined) return;
  if (needsHealthCheckPort(spec)) {
    errors.invalidFor(portPath, port, portNumber(port));
  } else {
    const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    errors.invalid(portPath, port, detail);
  }
}

function checkInternalTraffic({ spec }: Service, errors: FieldErrors): void {
  const path = SPEC.child("internalTrafficPolicy");
  const { internalTrafficPolicy: value, trafficDistribution } = spec;
  if (value === undefined && needsClusterIp(spec)) errors.required(path);
  checkChoice({ path, value, among: ["Cluster", "Local"] }, errors);
  const among = ["PreferClose", "PreferSameNode", "PreferSameZone"];
  checkChoice({ path: SPEC.child("trafficDistribution"), value: trafficDistribution, among }, errors);
}
