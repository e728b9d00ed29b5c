import { Namespace } from "../../api/generated/types/core-v1.ts";
import type { Labels } from "../../api/selectors/label-requirement.ts";
import type { CacheReader } from "../../runtime/controller/controller.ts";

/** Undefined for an unknown namespace or one without labels. */
export function namespaceLabels(namespace: string, cache: CacheReader): Labels | undefined {
  return cache(Namespace).find({ name: namespace })?.metadata.labels;
}
