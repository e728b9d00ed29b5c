/**
 * Autoscalers that would change the size of the same pods. Each writes down, in an annotation, by which labels it finds its pods, so that the
 * others see it without asking for every target.
 */
import { HorizontalPodAutoscaler } from "../../api/generated/types/autoscaling-v2.ts";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { parseLabelSelector } from "../../api/label-query.ts";
import { labelsMatch } from "../../api/label-selector.ts";
import type { LabelSelector } from "../../api/label-selector.ts";
import type { CacheReader } from "../../runtime/controller.ts";

export const SELECTOR_ANNOTATION = "autoscaler.setpoint.dev/selector";

export interface Claim {
  readonly hpa: HorizontalPodAutoscaler;
  readonly selector: string;
  /** Those that it selects. */
  readonly pods: readonly Pod[];
}

export function findRivals(
  { hpa, selector, pods }: Claim,
  cache: CacheReader,
): readonly HorizontalPodAutoscaler[] {
  if (pods.length === 0) return [];
  const { namespace = "", name } = hpa.metadata;
  const others = cache(HorizontalPodAutoscaler)
    .list({ namespace })
    .filter(({ metadata }) => metadata.name !== name);
  return others.filter((other) => {
    if (hasSameTarget(other, hpa)) return true;
    if (other.metadata.annotations?.[SELECTOR_ANNOTATION] === selector) return true;
    const labels = knownSelector(other);
    return labels !== undefined && pods.some(({ metadata }) => labelsMatch(labels, metadata.labels));
  });
}

/** Throws a SyntaxError when the selector cannot be understood. */
export function matching(pods: readonly Pod[], selector: string): readonly Pod[] {
  const labels = parseLabelSelector(selector);
  return pods.filter(({ metadata }) => labelsMatch(labels, metadata.labels));
}

function hasSameTarget(
  { spec: left }: HorizontalPodAutoscaler,
  { spec: right }: HorizontalPodAutoscaler,
): boolean {
  const [one, other] = [left.scaleTargetRef, right.scaleTargetRef];
  return one.kind === other.kind && one.name === other.name;
}

/** By the object that says so: each is looked at again and again. */
const selectors = new WeakMap<HorizontalPodAutoscaler, { readonly labels: LabelSelector | undefined }>();

function knownSelector(hpa: HorizontalPodAutoscaler): LabelSelector | undefined {
  const known = selectors.get(hpa);
  if (known !== undefined) return known.labels;
  const labels = readSelector(hpa.metadata.annotations?.[SELECTOR_ANNOTATION]);
  selectors.set(hpa, { labels });
  return labels;
}

/** What cannot be understood, or was never written, selects nothing. */
function readSelector(text: string | undefined): LabelSelector | undefined {
  if (text === undefined || text === "") return undefined;
  try {
    return parseLabelSelector(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
