/** Warnings about valid Services that behave differently from what their fields suggest. */

import { fieldPath } from "../../api/errors/field-error.ts";
import type { Service } from "../../api/generated/types/core-v1.ts";
import { cidrWarnings, ipWarnings } from "../rules/address-rules.ts";
import { isHeadless } from "./service-shape.ts";

const TOPOLOGY_HINTS = "service.kubernetes.io/topology-aware-hints";
const SPEC = fieldPath("spec");
const PREFER_CLOSE_WARNING = 'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"';

export function serviceWarnings(it: Service): readonly string[] {
  return [
    ...annotationWarnings(it),
    ...ignoredFieldWarnings(it),
    ...addressWarnings(it),
    ...(isReachedFromOutside(it) ? ["spec.externalIPs is deprecated"] : []),
    ...(it.spec.trafficDistribution === "PreferClose" ? [PREFER_CLOSE_WARNING] : []),
  ];
}

function annotationWarnings({ metadata }: Service): readonly string[] {
  if (metadata.annotations?.[TOPOLOGY_HINTS] === undefined) return [];
  return [
    `annotation ${TOPOLOGY_HINTS} is deprecated, please use service.kubernetes.io/topology-mode instead`,
  ];
}

/** Headless and ExternalName Services ignore external IPs; `ignoredFieldWarnings` reports that. */
function isReachedFromOutside(it: Service): boolean {
  return !isHeadless(it) && it.spec.type !== "ExternalName" && (it.spec.externalIPs ?? []).length > 0;
}

function ignoredFieldWarnings(it: Service): readonly string[] {
  const { type, externalName = "", externalIPs = [], loadBalancerIP = "", sessionAffinity } = it.spec;
  const isIgnored: readonly (readonly [boolean, string])[] = [
    [isHeadless(it) && loadBalancerIP !== "", "spec.loadBalancerIP is ignored for headless services"],
    [isHeadless(it) && externalIPs.length > 0, "spec.externalIPs is ignored for headless services"],
    [isHeadless(it) && sessionAffinity !== "None", "spec.SessionAffinity is ignored for headless services"],
    [
      type === "ExternalName" && externalIPs.length > 0,
      'spec.externalIPs is ignored when spec.type is "ExternalName"',
    ],
    [
      type !== "ExternalName" && externalName !== "",
      'spec.externalName is ignored when spec.type is not "ExternalName"',
    ],
  ];
  return isIgnored.filter(([applies]) => applies).map(([, text]) => text);
}

function addressWarnings({ spec }: Service): readonly string[] {
  const { clusterIPs = [], externalIPs = [], loadBalancerIP = "", loadBalancerSourceRanges = [] } = spec;
  return [
    ...clusterIPs.flatMap((ip, i) => ipWarnings(ip, SPEC.child("clusterIPs").index(i))),
    ...externalIPs.flatMap((ip, i) => ipWarnings(ip, SPEC.child("externalIPs").index(i))),
    ...ipWarnings(loadBalancerIP, SPEC.child("loadBalancerIP")),
    ...loadBalancerSourceRanges.flatMap((block, i) =>
      cidrWarnings(block.trim(), SPEC.child("loadBalancerSourceRanges").index(i)),
    ),
  ];
}
