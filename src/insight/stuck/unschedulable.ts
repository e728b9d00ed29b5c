/** The scheduler finds no node for the pod: its reasons, by group of nodes. */
import type { Node } from "../../api/generated/types/core-v1.ts";
import { Pod } from "../../api/generated/types/core-v1.ts";
import { compareQuantities, parseQuantity } from "../../api/values/quantity.ts";
import { findCondition } from "../state/conditions.ts";
import { groupText, parseSchedulingMessage } from "./scheduling-message.ts";
import type { NodeGroup } from "./scheduling-message.ts";
import type { Finding, Remedy, Situation, StuckRule } from "./situation.ts";
import { asKind, kubectlName } from "./situation.ts";

type Labels = Readonly<Record<string, string>>;

const REMEDIES: readonly (readonly [pattern: RegExp, remedy: Remedy])[] = [
  [/^Too many pods/, { command: "kubectl get pods -A -o wide", effect: "remove pods, or add a node" }],
  [
    /node affinity|selector/,
    { command: "kubectl get nodes --show-labels", effect: "compare the labels of the nodes" },
  ],
  [
    /pod anti-affinity/,
    { command: "kubectl get pods -A -o wide", effect: "add a node: one pod of these fits on each" },
  ],
  [
    /pod affinity/,
    { command: "kubectl get pods -A --show-labels", effect: "run the pods that it wants beside it" },
  ],
  [
    /missing required label/,
    { command: "kubectl get nodes --show-labels", effect: "label the nodes with the topologyKey" },
  ],
  [
    /topology spread/,
    { command: "kubectl get pods -A -o wide", effect: "add nodes elsewhere, or raise maxSkew" },
  ],
];

export const unschedulableRule: StuckRule = (situation) => {
  const pod = asKind(situation, Pod);
  const condition = pod === undefined ? undefined : findCondition(pod, "PodScheduled");
  if (pod === undefined || condition?.status !== "False") return undefined;
  const message = condition.message ?? "no reason given";
  if (condition.reason === "SchedulingGated") return gated(situation, pod);
  const { nodes, groups } = parseSchedulingMessage(message);
  if (groups.length === 0) {
    const unblock = [{ command: "kubectl get nodes", effect: "add a node, or repair one" }];
    return { blockedBy: `the scheduler: ${message}`, unblock };
  }
  const found = remediesFor(situation, pod, groups);
  const look = { command: `kubectl describe ${kubectlName(situation)}`, effect: "see the needs of the pod" };
  return {
    blockedBy: `the scheduler: none of ${String(nodes)} nodes fits: ${groupTexts(situation, pod, groups)}`,
    unblock: found.length > 0 ? found : [look],
  };
};

/** The groups of nodes, and what the pod asks of them. */
export function groupTexts({ nodes }: Situation, pod: Pod, groups: readonly NodeGroup[]): string {
  const details = [...shortages(pod, groups, nodes), ...wishes(pod, groups)];
  return [groups.map(groupText).join(", "), ...details].join("; ");
}

function gated(situation: Situation, pod: Pod): Finding {
  const names = (pod.spec.schedulingGates ?? []).map(({ name }) => name);
  const patch = `[{"op":"remove","path":"/spec/schedulingGates"}]`;
  return {
    blockedBy: `scheduling gates: ${names.join(", ")}; their controllers remove them`,
    unblock: [
      {
        command: `kubectl patch ${kubectlName(situation)} --type=json -p='${patch}'`,
        effect: "open the gates by hand",
      },
    ],
  };
}

/** Amounts that no node has, also if it were empty. */
function shortages(pod: Pod, groups: readonly NodeGroup[], nodes: readonly Node[]): readonly string[] {
  const short = groups.flatMap(({ reason }) => /^Insufficient (\S+)$/.exec(reason)?.[1] ?? []);
  return short.flatMap((resource) => {
    const asked = pod.spec.containers.flatMap(({ resources }) => resources?.requests?.[resource] ?? []);
    const largest = nodes
      .flatMap(({ status }) => status.allocatable?.[resource] ?? [])
      .toSorted((a, b) => compareQuantities(parseQuantity(b), parseQuantity(a)))[0];
    if (asked.length === 0) return [];
    const most = largest === undefined ? "no node has any" : `the largest node has ${largest}`;
    return [`it asks for ${asked.join(" + ")} of ${resource}, ${most}`];
  });
}

/** Labels that the pod wants its node to have. */
function wishes(pod: Pod, groups: readonly NodeGroup[]): readonly string[] {
  if (!groups.some(({ reason }) => /node affinity|selector/.test(reason))) return [];
  const { nodeSelector = {}, affinity } = pod.spec;
  const terms =
    affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const wanted = terms.map(({ matchExpressions = [] }) =>
    matchExpressions
      .map(({ key, operator, values = [] }) => `${key} ${operator} ${values.join(",")}`.trim())
      .join(" and "),
  );
  const texts = [...labelTexts(nodeSelector), ...(wanted.length === 0 ? [] : [wanted.join(", or ")])];
  return texts.length === 0 ? [] : [`it wants a node with ${texts.join(" and ")}`];
}

export function labelTexts(labels: Labels): readonly string[] {
  return Object.entries(labels).map(([key, value]) => `${key}=${value}`);
}

export function remediesFor(situation: Situation, pod: Pod, groups: readonly NodeGroup[]): readonly Remedy[] {
  const has = (pattern: RegExp): boolean => groups.some(({ reason }) => pattern.test(reason));
  const found = REMEDIES.filter(([pattern]) => has(pattern)).map(([, remedy]) => remedy);
  return [
    ...(has(/^Insufficient /) ? roomRemedies(situation) : []),
    ...(has(/node affinity|selector/) ? labelRemedies(pod, situation.nodes) : []),
    ...found,
    ...(has(/unschedulable/) ? cordonRemedies(situation.nodes) : []),
  ];
}

function roomRemedies({ top }: Situation): readonly Remedy[] {
  const less = { command: `kubectl edit ${kubectlName(top)}`, effect: "ask for less" };
  const look = { command: "kubectl describe nodes", effect: "see the free room, or add a node" };
  // The requests of a pod that exists cannot change.
  return top.type.kind === "Pod" ? [look] : [less, look];
}

function labelRemedies({ spec }: Pod, [node]: readonly Node[]): readonly Remedy[] {
  const labels = labelTexts(spec.nodeSelector ?? {});
  if (labels.length === 0 || node === undefined) return [];
  const command = `kubectl label node ${node.metadata.name} ${labels.join(" ")}`;
  return [{ command, effect: "label a node so, if it is one" }];
}

function cordonRemedies(nodes: readonly Node[]): readonly Remedy[] {
  const [cordoned] = nodes.filter(({ spec }) => spec.unschedulable === true);
  const command = `kubectl uncordon ${cordoned?.metadata.name ?? "NODE"}`;
  return [{ command, effect: "let the cordoned node take pods" }];
}
