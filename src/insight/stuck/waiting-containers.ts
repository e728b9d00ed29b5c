/** Containers of a pod that wait, with the reason. */
import type { Pod } from "../../api/generated/types/core-v1.ts";

type ContainerStatus = NonNullable<Pod["status"]["containerStatuses"]>[number];

export interface WaitingContainer {
  readonly status: ContainerStatus;
  readonly reason: string;
  readonly message: string;
}

export function waitingContainers({ status }: Pod): readonly WaitingContainer[] {
  const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  return all.flatMap((each) => {
    const { waiting } = each.state ?? {};
    if (waiting?.reason === undefined) return [];
    return [{ status: each, reason: waiting.reason, message: waiting.message ?? "" }];
  });
}
