/** Parts of the tables of kinds that have a pod template or a selector. */

import type { PodSpec } from "../../api/generated/types/core-v1.ts";
import type { LabelSelector } from "../../api/generated/types/meta-v1.ts";
import { compileLabelSelector, labelSelectorText } from "../../api/selectors/label-selector.ts";

/** The columns Containers and Images. */
export function containerCells(spec: PodSpec | undefined): readonly [string, string] {
  const containers = spec?.containers ?? [];
  return [containers.map(({ name }) => name).join(","), containers.map(({ image }) => image ?? "").join(",")];
}

/** `a=b,c=d` in the order of the keys. */
export function labelsText(labels: Readonly<Record<string, string>> | undefined): string {
  const texts = Object.entries(labels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .toSorted();
  return texts.length === 0 ? "<none>" : texts.join(",");
}

/** A selector in the form a query has; `<none>` when it has no requirements, `<error>` when it cannot be read. */
export function selectorCell(selector: LabelSelector | undefined): string {
  try {
    return selectorText(selector) || "<none>";
  } catch (error) {
    if (error instanceof SyntaxError) return "<error>";
    throw error;
  }
}

/** The text form of a selector for the scale subresource. */
export function selectorText(selector: LabelSelector | undefined): string {
  return labelSelectorText(compileLabelSelector(selector));
}
