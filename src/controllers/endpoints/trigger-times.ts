/**
 * When that happened which made the endpoints of a Service change, as `endpoints.kubernetes.io/last-change-trigger-time` tells it: people measure by
 * it how long proxies take. It is known only by comparing with the last pass, so it is kept in memory for as long as a loop runs; the first pass
 * over a Service takes the time at which that was made.
 */
import type { ObjectKey } from "../../api/api-object.ts";
import type { Pod, Service } from "../../api/generated/types/core-v1.ts";
import { keyText } from "../../runtime/refs/cache-key.ts";

const TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time";

type Texts = Readonly<Record<string, string>>;

export class TriggerTimes {
  /** By Service: when each of its pods became ready, or ceased to be. */
  readonly #known = new Map<string, ReadonlyMap<string, string>>();

  /** `pods` are all that the Service chooses. Undefined when nothing that has a time has changed since the last call. */
  next({ metadata }: Service, pods: readonly Pod[]): string | undefined {
    const key = keyText(metadata);
    const known = this.#known.get(key);
    const times = new Map(pods.flatMap(readyTimes));
    this.#known.set(key, times);
    if (known === undefined) return metadata.creationTimestamp;
    const changed = [...times].filter(([name, at]) => at > (known.get(name) ?? ""));
    return changed.map(([, at]) => at).toSorted()[0];
  }

  forget(key: ObjectKey): void {
    this.#known.delete(keyText(key));
  }
}

/** The annotations of something that is written for this reason. */
export function withTriggerTime(annotations: Texts | undefined, time: string | undefined): Texts {
  const { [TRIGGER_TIME]: _time, ...others } = annotations ?? {};
  return time === undefined ? others : { ...others, [TRIGGER_TIME]: time };
}

function readyTimes({ metadata, status }: Pod): readonly (readonly [name: string, at: string])[] {
  const at = status.conditions?.find(({ type }) => type === "Ready")?.lastTransitionTime;
  return at === undefined ? [] : [[metadata.name, at]];
}
