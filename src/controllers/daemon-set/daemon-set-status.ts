/** Builds the status of a DaemonSet. Pure. */
import type { DaemonSetStatus } from "../../api/generated/types/apps-v1.ts";
import { isReady } from "../../resources/pod/pod-state.ts";
import { isUpdated, isUsable } from "./daemon-view.ts";
import type { DaemonView, DaemonNode } from "./daemon-view.ts";

/** Counts only the first pod of each node. */
export function statusOf(view: DaemonView, collisionCount: number | undefined): DaemonSetStatus {
  const { set, places } = view;
  const wanted = places.filter(({ fitness }) => fitness === "fits");
  const firsts = wanted.flatMap(({ pods }) => pods.slice(0, 1));
  const available = firsts.filter((pod) => isUsable(pod, view)).length;
  const updated = firsts.filter((pod) => isUpdated(pod, view)).length;
  const unavailable = wanted.length - available;
  const isMisplaced = ({ fitness, pods }: DaemonNode): boolean => fitness !== "fits" && pods.length > 0;
  const { generation: observedGeneration } = set.metadata;
  const { conditions } = set.status;
  return {
    ...(observedGeneration !== undefined && { observedGeneration }),
    desiredNumberScheduled: wanted.length,
    currentNumberScheduled: firsts.length,
    numberMisscheduled: places.filter(isMisplaced).length,
    numberReady: firsts.filter(isReady).length,
    ...(updated > 0 && { updatedNumberScheduled: updated }),
    ...(available > 0 && { numberAvailable: available }),
    ...(unavailable > 0 && { numberUnavailable: unavailable }),
    ...(collisionCount !== undefined && { collisionCount }),
    ...(conditions !== undefined && { conditions }),
  };
}
