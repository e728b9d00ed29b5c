import { Namespace } from "../../api/generated/types/core-v1.ts";
import type { Labels } from "../../api/selectors/label-requirement.ts";
import type { CacheReader } from "../../runtime/controller/controller.ts";

/** Undefined for a namespace without labels and for one that is not there. */
export function namespaceLabels(namespace: string, cache: CacheReader): Labels | undefined {
  return cache(Namespace).find({ name: namespace })?.metadata.labels;
}
