/**
 * Computes `endpoints.kubernetes.io/last-change-trigger-time`: the time of the event that changed a Service's endpoints. Operators measure
 * the latency of proxies with it.
 *
 * The time follows from a comparison with the previous pass, kept in memory. The first pass over a Service uses its creation time.
 */
import type { ObjectKey } from "../../api/api-object.ts";
import type { Pod, Service } from "../../api/generated/types/core-v1.ts";
import { keyText } from "../../runtime/refs/cache-key.ts";

const TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time";

type Texts = Readonly<Record<string, string>>;

export class TriggerTimes {
  /** Times at which each Service's pods became ready or unready, by Service. */
  readonly #known = new Map<string, ReadonlyMap<string, string>>();

  /** `pods` are all pods of the Service. Undefined if no pod has a new time since the last call. */
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

/** Annotations with the trigger time of this write. */
export function withTriggerTime(annotations: Texts | undefined, time: string | undefined): Texts {
  const { [TRIGGER_TIME]: _time, ...others } = annotations ?? {};
  return time === undefined ? others : { ...others, [TRIGGER_TIME]: time };
}

function readyTimes({ metadata, status }: Pod): readonly (readonly [name: string, at: string])[] {
  const at = status.conditions?.find(({ type }) => type === "Ready")?.lastTransitionTime;
  return at === undefined ? [] : [[metadata.name, at]];
}
