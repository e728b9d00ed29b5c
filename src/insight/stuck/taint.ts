/** Taints keep the pod off nodes. */
import { Pod } from "../../api/generated/types/core-v1.ts";
import type { Node } from "../../api/generated/types/core-v1.ts";
import { findCondition } from "../state/conditions.ts";
import { parseSchedulingMessage } from "./scheduling-message.ts";
import type { StuckRule } from "./situation.ts";
import { asKind, kubectlName } from "./situation.ts";
import { groupTexts, remediesFor } from "./unschedulable.ts";

type Taint = NonNullable<Node["spec"]["taints"]>[number];
type Toleration = NonNullable<Pod["spec"]["tolerations"]>[number];

/** A cordoned node has it; the scheduler counts these nodes by themselves. */
const CORDON = "node.kubernetes.io/unschedulable";

/** Names of nodes shown for each taint. */
const NODES_SHOWN = 3;

export const taintRule: StuckRule = (situation) => {
  const pod = asKind(situation, Pod);
  const condition = pod === undefined ? undefined : findCondition(pod, "PodScheduled");
  const { nodes, groups } = parseSchedulingMessage(condition?.message ?? "");
  const tainted = groups.find(({ reason }) => reason.includes("untolerated taint"));
  if (pod === undefined || condition?.status !== "False" || tainted === undefined) return undefined;
  const taints = [...untolerated(pod.spec.tolerations ?? [], situation.nodes)];
  const shown = taints.map(([taint, names]) => `${taint} on ${namesText(names)}`).join("; ");
  const head = `taints keep it off ${String(tainted.count)} of ${String(nodes)} nodes`;
  const others = groups.filter((each) => each !== tainted);
  const rest = others.length === 0 ? "" : `; ${groupTexts(situation, pod, others)}`;
  return {
    blockedBy: `${head}: ${shown === "" ? "you may not read them" : shown}${rest}`,
    unblock: [
      { command: removalOf(taints[0]), effect: "remove the taint" },
      { command: `kubectl edit ${kubectlName(situation.top)}`, effect: "add a toleration" },
      ...remediesFor(situation, pod, others),
    ],
  };
};

function removalOf([taint, names]: readonly [string, readonly string[]] = ["KEY", []]): string {
  return `kubectl taint nodes ${names[0] ?? "NODE"} ${taint}-`;
}

function namesText(names: readonly string[]): string {
  const more = names.length > NODES_SHOWN ? " …" : "";
  return `${names.slice(0, NODES_SHOWN).join(", ")}${more}`;
}

/** Taints that are not tolerated, each with its nodes. */
export function untolerated(
  tolerations: readonly Toleration[],
  nodes: readonly Node[],
): ReadonlyMap<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { metadata, spec } of nodes) {
    for (const taint of spec.taints ?? []) {
      if (
        taint.key === CORDON ||
        taint.effect === "PreferNoSchedule" ||
        tolerations.some((each) => tolerates(each, taint))
      )
        continue;
      const value = taint.value === undefined ? "" : `=${taint.value}`;
      const text = `${taint.key}${value}:${taint.effect}`;
      found.set(text, [...(found.get(text) ?? []), metadata.name]);
    }
  }
  return found;
}

function tolerates({ key = "", operator = "Equal", value = "", effect }: Toleration, taint: Taint): boolean {
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key === "") return operator === "Exists";
  return key === taint.key && (operator === "Exists" || value === (taint.value ?? ""));
}
