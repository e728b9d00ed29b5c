/** No node takes the pods of a DaemonSet. */
import { DaemonSet } from "../../api/generated/types/apps-v1.ts";
import type { StuckRule } from "./situation.ts";
import { asKind, kubectlName } from "./situation.ts";
import { untolerated } from "./taint.ts";
import { labelTexts } from "./unschedulable.ts";

export const daemonSetRule: StuckRule = (situation) => {
  const set = asKind(situation, DaemonSet);
  const { nodes } = situation;
  if (set?.status.desiredNumberScheduled !== 0 || nodes.length === 0) return undefined;
  const { nodeSelector = {}, tolerations = [] } = set.spec.template.spec;
  const labels = labelTexts(nodeSelector);
  const matching = nodes.filter(({ metadata }) =>
    Object.entries(nodeSelector).every(([key, value]) => metadata.labels?.[key] === value),
  );
  const count = String(nodes.length);
  if (matching.length === 0)
    return {
      blockedBy: `none of ${count} nodes has the labels that it wants: ${labels.join(",")}`,
      unblock: [
        {
          command: `kubectl label node ${nodes[0]?.metadata.name ?? ""} ${labels.join(" ")}`,
          effect: "label a node so, if it is one",
        },
        { command: "kubectl get nodes --show-labels", effect: "compare the labels of the nodes" },
      ],
    };
  const taints = [...untolerated(tolerations, matching).keys()];
  if (taints.length === 0) return undefined;
  return {
    blockedBy: `taints keep it off all ${count} nodes: ${taints.join(", ")}`,
    unblock: [{ command: `kubectl edit ${kubectlName(situation)}`, effect: "add a toleration" }],
  };
};
