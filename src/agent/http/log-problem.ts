/** Why a container has no log, in the kubelet's words. */
import type { ContainerState, ContainerStatus, Pod } from "../../api/generated/types/core-v1.ts";

const WAITING: ReadonlyMap<string, string> = new Map([
  ["ErrImagePull", "image can't be pulled"],
  ["ImagePullBackOff", "trying and failing to pull image"],
]);

/** Undefined when the pod's status names a run whose log can be asked for. */
export function findLogProblem(pod: Pod, container: string, isPrevious: boolean): string | undefined {
  const place = `container "${container}" in pod "${pod.metadata.name}"`;
  const status = findStatus(pod, container);
  if (status === undefined) return `${place} is not available`;
  const { state, lastState } = status;
  if (isPrevious) return hasEnded(lastState) ? undefined : `previous terminated ${place} not found`;
  if (state.running !== undefined || hasEnded(state) || hasEnded(lastState)) return undefined;
  if (state.terminated !== undefined) return `${place} is terminated`;
  const { reason } = state.waiting ?? {};
  if (reason === undefined) return `${place} is waiting to start - no logs yet`;
  return `${place} is waiting to start: ${WAITING.get(reason) ?? reason}`;
}

/** Whether the state is the end of a container that existed. */
function hasEnded({ terminated }: ContainerState): boolean {
  return (terminated?.containerID ?? "") !== "";
}

function findStatus({ status }: Pod, container: string): ContainerStatus | undefined {
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = status;
  return [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses].find(
    ({ name }) => name === container,
  );
}
