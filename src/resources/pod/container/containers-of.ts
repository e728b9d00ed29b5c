/** Lists all containers of a pod with their field paths. */

import type { FieldPath } from "../../../api/errors/field-error.ts";
import type { Container, EphemeralContainer, PodSpec } from "../../../api/generated/types/core-v1.ts";

export interface PlacedContainer {
  readonly container: Container | EphemeralContainer;
  readonly at: FieldPath;
}

/** The order is upstream's. */
export function containersOf(spec: PodSpec, path: FieldPath): readonly PlacedContainer[] {
  return (["initContainers", "containers", "ephemeralContainers"] as const).flatMap((list) =>
    (spec[list] ?? []).map((container, i) => ({ container, at: path.child(list).index(i) })),
  );
}
