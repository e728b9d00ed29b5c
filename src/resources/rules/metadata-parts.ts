/** Metadata that clients set besides the name. */

import { cloneJson } from "../../api/json/json-clone.ts";

export type MetadataPart = "annotations" | "finalizers" | "labels" | "ownerReferences";

export const ALL_METADATA: readonly MetadataPart[] = [
  "annotations",
  "finalizers",
  "labels",
  "ownerReferences",
];

interface WithParts {
  readonly metadata: Partial<Record<MetadataPart, unknown>>;
}

/** Restores the parts from the previous object. */
export function keepParts(
  { metadata }: WithParts,
  { metadata: previous }: WithParts,
  parts: readonly MetadataPart[] = [],
): void {
  for (const part of parts) {
    if (previous[part] === undefined) delete metadata[part];
    else metadata[part] = cloneJson(previous[part]);
  }
}
