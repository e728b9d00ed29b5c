/** Resource usage of simulated pods: their annotations give it while they run (docs/reference/simulated-pods.md). */
import type { ContainerStatus, Node, Pod } from "../../api/generated/types/core-v1.ts";
import { simulatedUsage } from "../../resources/pod/simulated-annotations.ts";
import type { ContainerUsage, OwnUsage, Usage } from "../../server/verbs/metrics-api/usage-source.ts";

/** Prefix of the container ids and runtime versions of simulated nodes. */
const RUNTIME = "simulated://";

export const simulatedUsageSource: OwnUsage = {
  covers: isSimulatedNode,
  findPod: usageOfPod,
  findNode: usageOfNode,
};

function usageOfPod(pod: Pod): readonly ContainerUsage[] | undefined {
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status;
  const running = [...containerStatuses, ...initContainerStatuses].filter(isRunning);
  if (running.length === 0) return undefined;
  return running.map(({ name }) => ({ name, ...simulatedUsage(pod, name) }));
}

function isSimulatedNode({ status }: Node): boolean {
  return status.nodeInfo?.containerRuntimeVersion.startsWith(RUNTIME) === true;
}

/** A node without pods uses nothing. A node that is not ready reports no usage. */
function usageOfNode(node: Node, pods: readonly Pod[]): Usage | undefined {
  const ready = node.status.conditions?.find(({ type }) => type === "Ready");
  if (!isSimulatedNode(node) || ready?.status !== "True") return undefined;
  let cpuMillis = 0;
  let memoryBytes = 0;
  for (const usage of pods.flatMap((pod) => usageOfPod(pod) ?? [])) {
    cpuMillis += usage.cpuMillis;
    memoryBytes += usage.memoryBytes;
  }
  return { cpuMillis, memoryBytes };
}

function isRunning({ state, containerID }: ContainerStatus): boolean {
  return state?.running !== undefined && containerID?.startsWith(RUNTIME) === true;
}
