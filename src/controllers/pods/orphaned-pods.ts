/** Maps a pod without a controller to every owner whose selector matches: one of them may adopt it. */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import { Pod } from "../../api/generated/types/core-v1.ts";
import type { LabelSelector } from "../../api/generated/types/meta-v1.ts";
import { cachedLabelSelector, labelsMatch } from "../../api/selectors/label-selector.ts";
import { watching } from "../../runtime/controller/controller.ts";
import type { WatchMapping } from "../../runtime/controller/controller.ts";
import { controllerOf } from "../../runtime/refs/owner-reference.ts";

export function orphanedPods<T extends ApiObject>(
  type: ResourceType<T>,
  selectorOf: (owner: T) => LabelSelector,
): WatchMapping {
  return watching(Pod, ({ after }, cache) => {
    if (after === undefined || controllerOf(after) !== undefined) return [];
    const { namespace = "", labels } = after.metadata;
    return cache(type)
      .list({ namespace })
      .filter((owner) => labelsMatch(cachedLabelSelector(selectorOf(owner)), labels))
      .map(({ metadata: { name = "" } }) => ({ namespace, name }));
  });
}
