/** A PodDisruptionBudget allows no eviction, so that a node cannot be drained. */
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { Node } from "../../api/generated/types/core-v1.ts";
import { PodDisruptionBudget } from "../../api/generated/types/policy-v1.ts";
import { compileLabelSelector, labelsMatch } from "../../api/selectors/label-selector.ts";
import type { Finding, StuckRule } from "./situation.ts";
import { asKind, inNamespace } from "./situation.ts";

export const disruptionBudgetRule: StuckRule = (situation) => {
  const own = asKind(situation, PodDisruptionBudget);
  if (own !== undefined) {
    const covered = situation.pods.filter((pod) => covers(own, pod));
    return isBlocking(own) ? finding(own, covered) : undefined;
  }
  const node = asKind(situation, Node);
  if (node?.spec.unschedulable !== true) return undefined;
  for (const budget of situation.budgets.filter(isBlocking)) {
    const covered = situation.pods.filter((pod) => covers(budget, pod));
    if (covered.length > 0) return finding(budget, covered);
  }
  return undefined;
};

function isBlocking({ status }: PodDisruptionBudget): boolean {
  return status.disruptionsAllowed === 0 && status.expectedPods > 0;
}

function covers({ metadata, spec }: PodDisruptionBudget, pod: Pod): boolean {
  if (metadata.namespace !== pod.metadata.namespace || spec.selector === undefined) return false;
  return labelsMatch(compileLabelSelector(spec.selector), pod.metadata.labels);
}

function finding({ metadata, status }: PodDisruptionBudget, pods: readonly Pod[]): Finding {
  const { name, namespace = "" } = metadata;
  const names = pods.map((pod) => pod.metadata.name);
  const about =
    names.length === 0 ? "" : ` of pod ${names.slice(0, 3).join(", ")}${names.length > 3 ? " …" : ""}`;
  const health = `${String(status.currentHealthy)} healthy, ${String(status.desiredHealthy)} needed`;
  const patch = `'{"spec":{"minAvailable":null,"maxUnavailable":1}}'`;
  const command = `kubectl patch pdb ${name}${inNamespace(namespace)} --type=merge -p ${patch}`;
  return {
    blockedBy: `PodDisruptionBudget ${namespace}/${name} allows no eviction${about}: ${health}`,
    unblock: [
      { command, effect: "allow one eviction at a time" },
      {
        command: `kubectl get pods --show-labels${inNamespace(namespace)}`,
        effect: "or run one pod more than it needs, or heal one",
      },
    ],
  };
}
