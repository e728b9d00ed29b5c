/** All containers of a pod with where they are. */

import type { FieldPath } from "../../../api/errors/field-error.ts";
import type { Container, EphemeralContainer, PodSpec } from "../../../api/generated/types/core-v1.ts";

export interface PlacedContainer {
  readonly container: Container | EphemeralContainer;
  readonly at: FieldPath;
}

/** In the order in which upstream visits them. */
export function containersOf(spec: PodSpec, path: FieldPath): readonly PlacedContainer[] {
  return (["initContainers", "containers", "ephemeralContainers"] as const).flatMap((list) =>
    (spec[list] ?? []).map((container, i) => ({ container, at: path.child(list).index(i) })),
  );
}
