/** Which pods are on a node. One index for all loops that ask: each more would cost something at every change of a pod. */
import { Pod } from "../../api/generated/types/core-v1.ts";
import { indexing } from "../../runtime/controller/controller.ts";
import type { CacheReader } from "../../runtime/controller/controller.ts";

const NAME = "pods/node";

/** To be named by whoever asks. */
export const podsByNode = indexing(Pod, NAME, ({ spec }) =>
  spec.nodeName === undefined ? [] : [spec.nodeName],
);

export function podsOnNode(node: string, cache: CacheReader): readonly Pod[] {
  return cache(Pod).indexed(NAME, node);
}
