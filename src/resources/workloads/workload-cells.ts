/** Table cells of kinds with a pod template or a selector. */

import type { PodSpec } from "../../api/generated/types/core-v1.ts";
import type { LabelSelector } from "../../api/generated/types/meta-v1.ts";
import { compileLabelSelector, labelSelectorText } from "../../api/selectors/label-selector.ts";

/** The columns Containers and Images. */
export function containerCells(spec: PodSpec | undefined): readonly [string, string] {
  const containers = spec?.containers ?? [];
  return [containers.map(({ name }) => name).join(","), containers.map(({ image }) => image ?? "").join(",")];
}

/** `a=b,c=d` sorted by key. */
export function labelsText(labels: Readonly<Record<string, string>> | undefined): string {
  const texts = Object.entries(labels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .toSorted();
  return texts.length === 0 ? "<none>" : texts.join(",");
}

/** Query form of a selector; `<none>` without requirements, `<error>` when it is invalid. */
export function selectorCell(selector: LabelSelector | undefined): string {
  try {
    return selectorText(selector) || "<none>";
  } catch (error) {
    if (error instanceof SyntaxError) return "<error>";
    throw error;
  }
}

/** Text form of a selector for the scale subresource. */
export function selectorText(selector: LabelSelector | undefined): string {
  return labelSelectorText(compileLabelSelector(selector));
}
