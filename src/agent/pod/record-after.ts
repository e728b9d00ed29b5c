/** The record of a container after an action. */
import {
  beginEnvironmentLookup,
  beginInspect,
  beginProbe,
  beginPull,
  beginStart,
  beginStop,
  cannotPull,
  reset,
  resize,
  type ContainerRecord,
  type Limits,
} from "./container-record.ts";
import type { PodAction } from "./pod-plan.ts";

interface Moment {
  readonly now: number;
  readonly podLimits: Limits;
}

export function recordAfter(
  record: ContainerRecord,
  action: PodAction,
  { now, podLimits }: Moment,
): ContainerRecord {
  const { container } = action;
  switch (action.type) {
    case "inspect":
      return beginInspect(record, container.image ?? "");
    case "pull":
      return beginPull(record, container.image ?? "");
    case "refuse":
      return cannotPull(record, { ...action, now });
    case "lookup":
      return beginEnvironmentLookup(record, now);
    case "start":
      return { ...beginStart(record, container, now), podLimits };
    case "resize":
      return { ...resize(record, container), podLimits };
    case "reset":
      return reset(record);
    case "probe":
      return beginProbe(record, action.probe);
    case "stop":
      return beginStop(record, { killAt: now + action.graceMs, isReplaced: action.isReplaced });
  }
}
