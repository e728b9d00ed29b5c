/** The run of a container whose log is asked for. Messages are the kubelet's. */
import type { ContainerState, ContainerStatus, Pod } from "../../api/generated/types/core-v1.ts";

const WAITING: ReadonlyMap<string, string> = new Map([
  ["ErrImagePull", "image can't be pulled"],
  ["ImagePullBackOff", "trying and failing to pull image"],
]);

/** A container that waits for its next run shows the one that has ended, also as the previous one. */
export function findLoggedRun(
  pod: Pod,
  container: string,
  isPrevious: boolean,
): { readonly attempt: number } | { readonly problem: string } {
  const place = `container "${container}" in pod "${pod.metadata.name}"`;
  const status = findStatus(pod, container);
  if (status === undefined) return { problem: `${place} is not available` };
  const { state, lastState, restartCount } = status;
  const isShown = state.running !== undefined || hasEnded(state);
  if (isPrevious) {
    if (!hasEnded(lastState)) return { problem: `previous terminated ${place} not found` };
    return { attempt: isShown ? restartCount - 1 : restartCount };
  }
  if (isShown || hasEnded(lastState)) return { attempt: restartCount };
  if (state.terminated !== undefined) return { problem: `${place} is terminated` };
  const { reason } = state.waiting ?? {};
  if (reason === undefined) return { problem: `${place} is waiting to start - no logs yet` };
  return { problem: `${place} is waiting to start: ${WAITING.get(reason) ?? reason}` };
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
