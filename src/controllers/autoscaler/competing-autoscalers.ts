/**
 * Finds other autoscalers that would scale the same pods.
 *
 * Each reconcile records the selector of its target, so that no request per autoscaler is needed. Until an autoscaler has been reconciled
 * once, only its target reference is compared.
 */
import type { ObjectKey } from "../../api/api-object.ts";
import { HorizontalPodAutoscaler } from "../../api/generated/types/autoscaling-v2.ts";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { parseLabelSelector } from "../../api/selectors/label-query.ts";
import { labelsMatch } from "../../api/selectors/label-selector.ts";
import type { LabelSelector } from "../../api/selectors/label-selector.ts";
import type { CacheReader } from "../../runtime/controller/controller.ts";
import { keyText } from "../../runtime/refs/cache-key.ts";
import { groupOf } from "../../runtime/refs/owner-reference.ts";
import { perRunState } from "../per-run-state.ts";

interface KnownSelector {
  readonly text: string;
  /** Undefined if the selector is empty or invalid: it then selects no pods. */
  readonly labels: LabelSelector | undefined;
}

/** Selectors by autoscaler. */
const selectorsIn = perRunState(() => new Map<string, KnownSelector>());

export function noteSelector(hpa: ObjectKey, text: string, cache: CacheReader): void {
  const selectors = selectorsIn(cache);
  if (selectors.get(keyText(hpa))?.text === text) return;
  selectors.set(keyText(hpa), { text, labels: readSelector(text) });
}

export function forgetSelector(hpa: ObjectKey, cache: CacheReader): void {
  selectorsIn(cache).delete(keyText(hpa));
}

export interface SelectedPods {
  readonly hpa: HorizontalPodAutoscaler;
  readonly selector: string;
  /** Pods that the selector selects. */
  readonly pods: readonly Pod[];
}

export function findCompetitors(
  { hpa, selector, pods }: SelectedPods,
  cache: CacheReader,
): readonly HorizontalPodAutoscaler[] {
  if (pods.length === 0) return [];
  const { namespace = "", name } = hpa.metadata;
  const others = cache(HorizontalPodAutoscaler)
    .list({ namespace })
    .filter(({ metadata }) => metadata.name !== name);
  return others.filter((other) => {
    if (hasSameTarget(other, hpa)) return true;
    const { text, labels } = selectorsIn(cache).get(keyText(other.metadata)) ?? {};
    if (text === selector) return true;
    return labels !== undefined && pods.some(({ metadata }) => labelsMatch(labels, metadata.labels));
  });
}

function hasSameTarget(
  { spec: left }: HorizontalPodAutoscaler,
  { spec: right }: HorizontalPodAutoscaler,
): boolean {
  const [one, other] = [left.scaleTargetRef, right.scaleTargetRef];
  if (one.kind !== other.kind || one.name !== other.name) return false;
  return groupOf(one.apiVersion ?? "") === groupOf(other.apiVersion ?? "");
}

function readSelector(text: string): LabelSelector | undefined {
  if (text === "") return undefined;
  try {
    return parseLabelSelector(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
