/** TaintNodesByCondition: taints new nodes as not ready, so that no pod is scheduled before the node is ready. */
import type { Node, Taint } from "../../../../api/generated/types/core-v1.ts";
import { definePlugin } from "../../plugin.ts";

const NOT_READY: Taint = { effect: "NoSchedule", key: "node.kubernetes.io/not-ready" };

export const taintNodesByCondition = definePlugin<Node>({
  name: "TaintNodesByCondition",
  interests: [{ resources: ["nodes"], operations: ["CREATE"] }],

  mutate({ spec }) {
    const { taints = [] } = spec;
    const isThere = taints.some(({ key, effect }) => key === NOT_READY.key && effect === NOT_READY.effect);
    if (!isThere) spec.taints = [...taints, { ...NOT_READY }];
  },
});
