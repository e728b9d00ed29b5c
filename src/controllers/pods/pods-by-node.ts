/** Index of pods by node. All controllers share it, as each further index costs time at every change of a pod. */
import { Pod } from "../../api/generated/types/core-v1.ts";
import { indexing } from "../../runtime/controller/controller.ts";
import type { CacheReader } from "../../runtime/controller/controller.ts";

const NAME = "pods/node";

/** Each controller that reads the index must list it. */
export const podsByNode = indexing(Pod, NAME, ({ spec }) =>
  spec.nodeName === undefined ? [] : [spec.nodeName],
);

/** Names of the nodes that pods are bound to. */
export function nodesWithPods(cache: CacheReader): Iterable<string> {
  return cache(Pod).indexValues(NAME);
}

export function podsOnNode(node: string, cache: CacheReader): readonly Pod[] {
  return cache(Pod).indexed(NAME, node);
}
