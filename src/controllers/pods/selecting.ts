/** Finds the objects whose label selector matches a pod, without visiting the others. */
import type { Pod } from "../../api/generated/types/core-v1.ts";
import type { LabelSelector } from "../../api/selectors/label-selector.ts";

/**
 * Index value of an object that selects pods of its namespace. One label that a pod must have is enough to skip most
 * objects; a selector without such a label is found for every pod.
 */
export function selectingValue(namespace: string, { requirements }: LabelSelector): string {
  for (const { key, operator, values } of requirements) {
    if ((operator === "=" || operator === "in") && values.length === 1)
      return labelValue(namespace, key, values[0] ?? "");
  }
  return anyValue(namespace);
}

/** The index values of all objects that may select the pod in one of these states. */
export function selectedValues(...states: readonly (Pod | undefined)[]): Iterable<string> {
  const values = new Set<string>();
  for (const pod of states) {
    if (pod === undefined) continue;
    const { namespace = "", labels = {} } = pod.metadata;
    values.add(anyValue(namespace));
    for (const [key, value] of Object.entries(labels)) values.add(labelValue(namespace, key, value));
  }
  return values;
}

function anyValue(namespace: string): string {
  return `${namespace}/`;
}

/** Neither keys nor values of labels contain "=". */
function labelValue(namespace: string, key: string, value: string): string {
  return `${namespace}/${key}=${value}`;
}
