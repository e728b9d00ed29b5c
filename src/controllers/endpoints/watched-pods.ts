/** Maps a change of a pod to the Services that select it, before or after the change. */
import { Pod, Service } from "../../api/generated/types/core-v1.ts";
import { watching } from "../../runtime/controller/controller.ts";
import type { CacheReader, ReconcileContext } from "../../runtime/controller/controller.ts";
import { choosesPods, isChosen, isRelevant } from "./service-pods.ts";

export const chosenPods = watching(Pod, ({ before, after }, cache) => {
  const { namespace = "" } = (after ?? before)?.metadata ?? {};
  const isConcerned = (service: Service): boolean =>
    choosesPods(service) &&
    ((before !== undefined && isChosen(service, before)) ||
      (after !== undefined && isChosen(service, after)));
  const concerned = cache(Service).list({ namespace }).filter(isConcerned);
  if (concerned.length === 0 || !isRelevant(before, after)) return [];
  return concerned.map(({ metadata: { name } }) => ({ namespace, name }));
});

/** Pods that the Service selects. The label index finds them among any number of others. */
export async function podsOf(
  { metadata, spec }: Service,
  { cache, inTurns }: ReconcileContext,
): Promise<readonly Pod[]> {
  const { namespace = "" } = metadata;
  return await inTurns(cache(Pod).select({ namespace, labels: { matchLabels: spec.selector ?? {} } }));
}

export function* servicesOf(pod: Pod, cache: CacheReader) {
  const { namespace = "" } = pod.metadata;
  for (const service of cache(Service).list({ namespace })) {
    if (choosesPods(service) && isChosen(service, pod)) yield { namespace, name: service.metadata.name };
  }
}
