/** Maps a change of a pod to the Services that select it, before or after the change. */
import type { ObjectKey } from "../../api/api-object.ts";
import { Pod, Service } from "../../api/generated/types/core-v1.ts";
import { indexing, watching } from "../../runtime/controller/controller.ts";
import type { CacheReader, ReconcileContext } from "../../runtime/controller/controller.ts";
import { selectedValues, selectingValue } from "../pods/selecting.ts";
import { choosesPods, isChosen, isRelevant, selectorOf } from "./service-pods.ts";

const SELECTING = "endpoints/selecting";

/** Index of Services by a label that their pods must have. Each controller that uses this file must list it. */
export const selectingServices = indexing(Service, SELECTING, (service) =>
  choosesPods(service) ? [selectingValue(service.metadata.namespace ?? "", selectorOf(service))] : [],
);

export const chosenPods = watching(Pod, ({ before, after }, cache) => {
  const concerned = [...servicesOf([before, after], cache)];
  return concerned.length === 0 || !isRelevant(before, after) ? [] : concerned;
});

/** Pods that the Service selects. The label index finds them among any number of others. */
export async function podsOf(
  { metadata, spec }: Service,
  { cache, inTurns }: ReconcileContext,
): Promise<readonly Pod[]> {
  const { namespace = "" } = metadata;
  return await inTurns(cache(Pod).select({ namespace, labels: { matchLabels: spec.selector ?? {} } }));
}

/** Services that select the pod in one of these states. */
export function* servicesOf(states: readonly (Pod | undefined)[], cache: CacheReader): Iterable<ObjectKey> {
  for (const value of selectedValues(...states)) {
    for (const service of cache(Service).indexed(SELECTING, value)) {
      const { namespace, name } = service.metadata;
      if (states.some((pod) => pod !== undefined && isChosen(service, pod))) yield { namespace, name };
    }
  }
}
