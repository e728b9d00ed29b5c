/** The pod's node does not answer, so the kubelet neither reports nor ends the pod. */
import { Pod } from "../../api/generated/types/core-v1.ts";
import { findCondition } from "../state/conditions.ts";
import { durationText } from "../text/duration-text.ts";
import type { StuckRule } from "./situation.ts";
import { asKind, inNamespace } from "./situation.ts";

export const lostNodeRule: StuckRule = (situation) => {
  const pod = asKind(situation, Pod);
  const node = pod && situation.nodes.find(({ metadata }) => metadata.name === pod.spec.nodeName);
  const ready = node === undefined ? undefined : findCondition(node, "Ready");
  if (pod === undefined || node === undefined || ready === undefined || ready.status === "True")
    return undefined;
  const since = durationText(situation.now - Date.parse(ready.lastTransitionTime ?? ""));
  const { name, namespace, deletionTimestamp } = pod.metadata;
  const deletion = `kubectl delete pod ${name}${inNamespace(namespace)}`;
  const remedy =
    deletionTimestamp === undefined
      ? { command: deletion, effect: "let its owner make another one now" }
      : { command: `${deletion} --force --grace-period=0`, effect: "remove it without its kubelet" };
  return {
    blockedBy: `node ${node.metadata.name} is not ready, for ${since}: ${ready.message ?? "no reason given"}`,
    unblock: [{ command: `setpoint why node/${node.metadata.name}`, effect: "bring the node back" }, remedy],
  };
};
