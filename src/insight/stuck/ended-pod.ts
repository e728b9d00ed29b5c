/** A container of the pod ended with a failure, and the pod or its container does not go on. */
import { Pod } from "../../api/generated/types/core-v1.ts";
import { endedContainers, endText, lastLineText, memoryLimit } from "./ended-containers.ts";
import type { StuckRule } from "./situation.ts";
import { asKind, inNamespace } from "./situation.ts";

export const endedPodRule: StuckRule = (situation) => {
  const pod = asKind(situation, Pod);
  if (pod === undefined) return undefined;
  const { name: podName, namespace } = pod.metadata;
  const { phase, reason, message } = pod.status;
  // Eviction, preemption, a lost node: the pod itself says why.
  if (phase === "Failed" && reason !== undefined)
    return {
      blockedBy: `the pod failed (${reason})${message === undefined ? "" : `: ${message}`}`,
      unblock: [],
    };
  const ended = endedContainers(pod).find(({ isPrevious }) => !isPrevious);
  if (ended === undefined) return undefined;
  const { name, end } = ended;
  const command = `kubectl logs ${podName} -c ${name}${inNamespace(namespace)}`;
  const how = endText(end, memoryLimit(pod, name));
  return {
    blockedBy: `container ${name} ${how}${lastLineText(situation.lastLines.get(name))}`,
    unblock: [{ command, effect: "see why it ended" }],
  };
};
