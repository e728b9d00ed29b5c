/**
 * Counts the templates of a DaemonSet in an annotation. The number was a field of versions that are no longer
 * served. Clients cannot change it.
 */
import type { DaemonSet } from "../../api/generated/types/apps-v1.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import type { Draft } from "../rules/kind-rules.ts";

const ANNOTATION = "deprecated.daemonset.template.generation";

/** Undefined for a text that is not an integer. */
export function findTemplateGeneration({ metadata }: Pick<DaemonSet, "metadata">): string | undefined {
  const text = metadata.annotations?.[ANNOTATION] ?? "";
  // 18 digits always fit into 64 bits.
  return /^[+-]?\d{1,18}$/.test(text) ? String(BigInt(text.replace(/^\+/, ""))) : undefined;
}

/** A create may set the first number. */
export function startTemplateGeneration(draft: Draft<DaemonSet>): void {
  const asked = BigInt(findTemplateGeneration(draft as DaemonSet) ?? "1");
  write(draft, asked < 1n ? 1n : asked);
}

export function keepTemplateGeneration(draft: Draft<DaemonSet>, previous: DaemonSet): void {
  write(draft, generationOf(previous));
}

/** Increments when the template changes. */
export function updateTemplateGeneration(draft: Draft<DaemonSet>, previous: DaemonSet): void {
  const isSame = jsonEqual(draft.spec.template, previous.spec.template);
  write(draft, generationOf(previous) + (isSame ? 0n : 1n));
}

/** Objects without the annotation are at their first template. */
function generationOf(set: DaemonSet): bigint {
  return BigInt(findTemplateGeneration(set) ?? "1");
}

function write({ metadata }: Draft<DaemonSet>, generation: bigint): void {
  metadata.annotations = { ...metadata.annotations, [ANNOTATION]: String(generation) };
}
