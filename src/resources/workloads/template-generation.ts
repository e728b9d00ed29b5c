/**
 * Which in the row of its templates the present one of a DaemonSet is. It was a field of versions that are no longer served; since then the server
 * keeps it in an annotation, and no client can change it.
 */
import type { DaemonSet } from "../../api/generated/types/apps-v1.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import type { Draft } from "../rules/kind-rules.ts";

const ANNOTATION = "deprecated.daemonset.template.generation";

/** Undefined for what is no number. */
export function findTemplateGeneration({ metadata }: Pick<DaemonSet, "metadata">): string | undefined {
  const text = metadata.annotations?.[ANNOTATION] ?? "";
  // As many digits as are a number of 64 bits whatever they are.
  return /^[+-]?\d{1,18}$/.test(text) ? String(BigInt(text.replace(/^\+/, ""))) : undefined;
}

/** A new set may say where it begins. */
export function startTemplateGeneration(draft: Draft<DaemonSet>): void {
  const asked = BigInt(findTemplateGeneration(draft as DaemonSet) ?? "1");
  write(draft, asked < 1n ? 1n : asked);
}

export function keepTemplateGeneration(draft: Draft<DaemonSet>, previous: DaemonSet): void {
  write(draft, generationOf(previous));
}

/** Counts up with each new template. */
export function followTemplate(draft: Draft<DaemonSet>, previous: DaemonSet): void {
  const isSame = jsonEqual(draft.spec.template, previous.spec.template);
  write(draft, generationOf(previous) + (isSame ? 0n : 1n));
}

/** Sets that were stored before this was kept are at their first. */
function generationOf(set: DaemonSet): bigint {
  return BigInt(findTemplateGeneration(set) ?? "1");
}

function write({ metadata }: Draft<DaemonSet>, generation: bigint): void {
  metadata.annotations = { ...metadata.annotations, [ANNOTATION]: String(generation) };
}
