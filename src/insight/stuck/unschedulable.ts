/** The scheduler finds no node for the pod: its reasons, by group of nodes. */
import { Pod } from "../../api/generated/types/core-v1.ts";
import { findCondition } from "../state/conditions.ts";
import { groupText, parseSchedulingMessage } from "./scheduling-message.ts";
import type { Remedy, StuckRule } from "./situation.ts";
import { asKind, kubectlName } from "./situation.ts";

const REMEDIES: readonly (readonly [pattern: RegExp, remedy: Remedy])[] = [
  [
    /^Insufficient /,
    { command: "kubectl describe nodes", effect: "see the free room; ask for less, or add a node" },
  ],
  [/^Too many pods/, { command: "kubectl get pods -A -o wide", effect: "remove pods, or add a node" }],
  [
    /affinity|selector/,
    { command: "kubectl get nodes --show-labels", effect: "label a node, or ask for other labels" },
  ],
  [/unschedulable/, { command: "kubectl uncordon NODE", effect: "let a cordoned node take pods" }],
  [
    /topology spread/,
    { command: "kubectl get pods -o wide", effect: "add nodes elsewhere, or raise maxSkew" },
  ],
];

export const unschedulableRule: StuckRule = (situation) => {
  const pod = asKind(situation, Pod);
  const condition = pod === undefined ? undefined : findCondition(pod, "PodScheduled");
  if (condition?.status !== "False") return undefined;
  const message = condition.message ?? "no reason given";
  if (condition.reason === "SchedulingGated") {
    const effect = "its controller removes the gate from spec.schedulingGates";
    return {
      blockedBy: `scheduling gates: ${message}`,
      unblock: [{ command: `kubectl describe ${kubectlName(situation)}`, effect }],
    };
  }
  const { nodes, groups } = parseSchedulingMessage(message);
  if (groups.length === 0) {
    const unblock = [{ command: "kubectl get nodes", effect: "add a node, or repair one" }];
    return { blockedBy: `the scheduler: ${message}`, unblock };
  }
  const found = REMEDIES.filter(([pattern]) => groups.some(({ reason }) => pattern.test(reason)));
  const general = {
    command: `kubectl describe ${kubectlName(situation)}`,
    effect: "see what the pod asks for",
  };
  return {
    blockedBy: `the scheduler: none of ${String(nodes)} nodes fits: ${groups.map(groupText).join(", ")}`,
    unblock: found.length > 0 ? found.map(([, remedy]) => remedy) : [general],
  };
};
