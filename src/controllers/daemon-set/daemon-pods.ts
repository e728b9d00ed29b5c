/** Decides which nodes a DaemonSet needs, finds the node of each of its pods, and builds new pods. */
import type { Manifest } from "../../api/api-object.ts";
import type { DaemonSet } from "../../api/generated/types/apps-v1.ts";
import type { Affinity, Node, Pod, PodSpec, Toleration } from "../../api/generated/types/core-v1.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import {
  findUntolerated,
  isRepellingTaint,
  matchesPodNodeSelection,
} from "../../resources/pod/node-selection.ts";
import { findTemplateGeneration } from "../../resources/workloads/template-generation.ts";
import { podFromTemplate } from "../pods/pod-from-template.ts";
import { REVISION_HASH } from "../revisions/revisions.ts";

/** Label with the generation of the pod's template; older than the revision hash. */
export const TEMPLATE_GENERATION = "pod-template-generation";
/** Annotation with the number of consecutive failures of earlier pods on the same node. */
export const FAILURES = "daemonset.setpoint.dev/failures-before";

const TOLERATED: readonly Toleration[] = [
  { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" },
  { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute" },
  { key: "node.kubernetes.io/disk-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/memory-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/pid-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/unschedulable", operator: "Exists", effect: "NoSchedule" },
];
const TOLERATED_ON_HOST_NETWORK: Toleration = {
  key: "node.kubernetes.io/network-unavailable",
  operator: "Exists",
  effect: "NoSchedule",
};

/** `keeps`: an existing pod may stay, but no new pod is created. */
export type Fitness = "fits" | "keeps" | "refuses";

/** Returns a function, so that the part that is equal for all nodes is computed once. */
export function fitnessFor({ spec }: DaemonSet): (node: Node) => Fitness {
  const { template } = spec;
  const tolerations = tolerationsOf(template.spec);
  const { nodeName = "" } = template.spec;
  return (node) => {
    if (nodeName !== "" && nodeName !== node.metadata.name) return "refuses";
    if (!matchesPodNodeSelection(template.spec, node)) return "refuses";
    const taints = (node.spec.taints ?? []).filter(isRepellingTaint);
    if (findUntolerated(taints, tolerations) === undefined) return "fits";
    const evicting = taints.filter(({ effect }) => effect === "NoExecute");
    return findUntolerated(evicting, tolerations) === undefined ? "keeps" : "refuses";
  };
}

function tolerationsOf({ tolerations = [], hostNetwork }: PodSpec): readonly Toleration[] {
  const added = hostNetwork === true ? [...TOLERATED, TOLERATED_ON_HOST_NETWORK] : TOLERATED;
  return [...tolerations, ...added.filter((each) => !tolerations.some((known) => jsonEqual(known, each)))];
}

/** Node that the pod runs on, or that its affinity demands. */
export function nodeOf({ spec }: Pod): string | undefined {
  if (spec.nodeName !== undefined && spec.nodeName !== "") return spec.nodeName;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  for (const { matchFields = [] } of required?.nodeSelectorTerms ?? []) {
    const field = matchFields.find(({ key, operator }) => key === "metadata.name" && operator === "In");
    if (field?.values?.length === 1) return field.values[0];
  }
  return undefined;
}

export interface NewDaemon {
  readonly node: string;
  readonly hash: string;
  readonly failures: number;
}

export function newDaemon(set: DaemonSet, { node, hash, failures }: NewDaemon): Manifest<Pod> {
  const { metadata, spec } = set.spec.template;
  const generation = findTemplateGeneration(set);
  return podFromTemplate(set, {
    metadata: {
      ...metadata,
      labels: {
        ...metadata.labels,
        ...(generation !== undefined && { [TEMPLATE_GENERATION]: generation }),
        [REVISION_HASH]: hash,
      },
      ...(failures > 0 && { annotations: { ...metadata.annotations, [FAILURES]: String(failures) } }),
    },
    spec: { ...spec, affinity: pinnedTo(node, spec.affinity), tolerations: tolerationsOf(spec) },
  });
}

/** Restricts the pod to this node. The controller has already checked that the node fits. */
function pinnedTo(node: string, affinity: Affinity | undefined): Affinity {
  const matchFields = [{ key: "metadata.name", operator: "In" as const, values: [node] }];
  const requiredDuringSchedulingIgnoredDuringExecution = { nodeSelectorTerms: [{ matchFields }] };
  return {
    ...affinity,
    nodeAffinity: { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution },
  };
}
