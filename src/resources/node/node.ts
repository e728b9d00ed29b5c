/** Node: a machine that runs pods. Its agent creates it together with its status. */

import { fieldPath } from "../../api/errors/field-error.ts";
import type { Node } from "../../api/generated/types/core-v1.ts";
import { cidrWarnings } from "../rules/address-rules.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind, type Draft } from "../rules/kind-rules.ts";
import {
  checkDeclaredFeatures,
  checkNodeAddresses,
  checkNodeAmounts,
  checkNodeIdentity,
  checkPodCidrs,
  checkSwap,
  checkTaints,
} from "./node-rules.ts";

const ROLE_PREFIX = "node-role.kubernetes.io/";
const ROLE_LABEL = "kubernetes.io/role";

export const node = defineKind<Node>("v1", "Node", {
  keepsStatus: true,

  defaults(draft) {
    syncPodCidrs(draft.spec);
    const { capacity, allocatable } = draft.status;
    if (capacity !== undefined && allocatable === undefined) draft.status.allocatable = { ...capacity };
  },

  prepareCreate: dropConfigSource,
  prepareUpdate(draft, previous) {
    if (previous.spec.configSource === undefined) dropConfigSource(draft);
  },

  validate(it, errors) {
    checkTaints(it.spec.taints ?? [], errors);
    checkNodeAmounts(it, errors);
    checkDeclaredFeatures(it, errors);
    checkSwap(it, errors);
    checkPodCidrs(it.spec.podCIDRs ?? [], errors);
  },

  validateUpdate(next, previous, errors) {
    checkNodeAddresses(next, errors);
    checkNodeIdentity(next, previous, errors);
  },

  validateStatus(next, previous, errors) {
    checkNodeAmounts(next, errors);
    checkDeclaredFeatures(next, errors);
    checkNodeAddresses(next, errors);
    checkNodeIdentity(next, previous, errors);
  },

  warnings: ({ spec }) => [
    ...(spec.configSource === undefined ? [] : ["spec.configSource: the feature is removed"]),
    ...(spec.externalID === undefined
      ? []
      : ["spec.externalID: this field is deprecated, and is unused by Kubernetes"]),
    ...(spec.podCIDRs ?? []).flatMap((block, i) =>
      cidrWarnings(block, fieldPath("spec", "podCIDRs").index(i)),
    ),
  ],

  fields: ({ spec }) => ({ "spec.unschedulable": String(spec.unschedulable ?? false) }),

  cells(it, now) {
    const { nodeInfo } = it.status;
    return [
      it.metadata.name,
      statusText(it),
      nodeRoles(it).join(",") || "<none>",
      ageText(it, now),
      nodeInfo.kubeletVersion,
      addressText(it, "InternalIP"),
      addressText(it, "ExternalIP"),
      nodeInfo.osImage || "<unknown>",
      nodeInfo.kernelVersion || "<unknown>",
      nodeInfo.containerRuntimeVersion || "<unknown>",
    ];
  },
});

/** `podCIDR` predates `podCIDRs`; it replaces the list when they disagree. */
function syncPodCidrs(spec: Draft<Node["spec"]>): void {
  const { podCIDR, podCIDRs = [] } = spec;
  if (podCIDR !== undefined && podCIDRs[0] !== podCIDR) spec.podCIDRs = [podCIDR];
  const [first] = spec.podCIDRs ?? [];
  if (first !== undefined) spec.podCIDR = first;
}

/** Drops a removed feature: agents no longer read their configuration from the API. */
function dropConfigSource({ spec }: Draft<Node>): void {
  delete spec.configSource;
}

function statusText({ spec, status }: Node): string {
  const ready = status.conditions?.find(({ type }) => type === "Ready");
  const health = ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady";
  return spec.unschedulable === true ? `${health},SchedulingDisabled` : health;
}

function nodeRoles({ metadata }: Node): readonly string[] {
  const roles = Object.entries(metadata.labels ?? {}).map(([key, value]) => {
    if (key.startsWith(ROLE_PREFIX)) return key.slice(ROLE_PREFIX.length);
    return key === ROLE_LABEL ? value : "";
  });
  return [...new Set(roles)].filter((role) => role !== "").toSorted();
}

function addressText({ status }: Node, wanted: string): string {
  return status.addresses?.find(({ type }) => type === wanted)?.address ?? "<none>";
}
