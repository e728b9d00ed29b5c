/** A change of a pod concerns the Services that choose it, or chose it before. */
import { Pod, Service } from "../../api/generated/types/core-v1.ts";
import { watching } from "../../runtime/controller.ts";
import { choosesPods, isChosen, isRelevant } from "./service-pods.ts";

export const chosenPods = watching(Pod, function* ({ before, after }, cache) {
  if (!isRelevant(before, after)) return;
  const { namespace = "" } = (after ?? before)?.metadata ?? {};
  const states = [before, after].filter((pod) => pod !== undefined);
  for (const service of cache(Service).list({ namespace })) {
    const isConcerned = choosesPods(service) && states.some((pod) => isChosen(service, pod));
    if (isConcerned) yield { namespace, name: service.metadata.name };
  }
});
