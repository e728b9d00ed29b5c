/**
 * Scales the target of each HorizontalPodAutoscaler by its metrics.
 *
 * Reads HorizontalPodAutoscalers, Pods, the target's scale subresource and the metrics APIs. Writes the target's scale, the autoscaler's
 * status, and an annotation with its recent history (scale-history.ts).
 */
import { isApiError } from "../../api/errors/api-error.ts";
import { HorizontalPodAutoscaler } from "../../api/generated/types/autoscaling-v2.ts";
import { Pod } from "../../api/generated/types/core-v1.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import type { ObjectChange } from "../../runtime/cache/object-change.ts";
import type { NewCondition } from "../../runtime/controller/conditions.ts";
import { defineController } from "../../runtime/controller/controller.ts";
import type { Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";
import { statusOf } from "./autoscaler-status.ts";
import { findCompetitors, forgetSelector, noteSelector } from "./competing-autoscalers.ts";
import { readMetrics } from "./metric-source.ts";
import { planByMetrics, planBySize, undecided } from "./plan-scale.ts";
import type { ScalePlan } from "./plan-scale.ts";
import { HISTORY_ANNOTATION, PERIOD_MS, writeHistory } from "./scale-history.ts";
import type { ScaleHistory } from "./scale-history.ts";
import { readTarget, rescale } from "./scale-target.ts";
import type { ScaleTarget } from "./scale-target.ts";

const NEXT_CHECK = { recheckAfterMs: PERIOD_MS, timer: "periodic" } as const;

export const autoscalerController = defineController({
  name: "horizontal-pod-autoscaler",
  for: HorizontalPodAutoscaler,
  reads: [Pod],
  // The controller's own writes to status and annotations start no reconcile.
  when: specChanged,
  concurrency: 5,
  reconcile,
  vanished: async (key, { cache }) => forgetSelector(key, cache),
});

async function reconcile(hpa: HorizontalPodAutoscaler, context: ReconcileContext): Promise<Outcome> {
  if (hpa.metadata.deletionTimestamp !== undefined) return undefined;
  const target = await readTarget(hpa, context.client);
  if (target.type === "missing") {
    await reportMissing(hpa, target.message, context);
    return NEXT_CHECK;
  }
  noteSelector(hpa.metadata, target.selector, context.cache);
  const bySize = planBySize(hpa, target.specReplicas, context.clock.now());
  const plan = bySize ?? (await planByLoad(hpa, target, context));

  const remembered = plan.history === undefined ? hpa : await remember(hpa, plan.history, context);
  for (const event of plan.events) context.event(remembered, event);
  const conditions = [
    SCALE_READ,
    ...plan.conditions,
    ...(await resize(remembered, { target, plan }, context)),
  ];
  const seen = { currentReplicas: target.specReplicas, conditions, now: context.clock.now() };
  await context.updateStatus(remembered, statusOf(remembered, plan, seen));
  return NEXT_CHECK;
}

type FoundTarget = Extract<ScaleTarget, { readonly type: "found" }>;

const SCALE_READ: NewCondition = {
  type: "AbleToScale",
  status: "True",
  reason: "SucceededGetScale",
  message: "the HPA controller was able to get the target's current scale",
};

async function reportMissing(
  hpa: HorizontalPodAutoscaler,
  message: string,
  context: ReconcileContext,
): Promise<void> {
  context.event(hpa, { type: "Warning", reason: "FailedGetScale", message });
  const condition: NewCondition = {
    type: "AbleToScale",
    status: "False",
    reason: "FailedGetScale",
    message: `the HPA controller was unable to get the target's current scale: ${message}`,
  };
  await context.updateStatus(
    hpa,
    statusOf(hpa, undefined, { conditions: [condition], now: context.clock.now() }),
  );
}

async function planByLoad(
  hpa: HorizontalPodAutoscaler,
  { selector, specReplicas, statusReplicas }: FoundTarget,
  context: ReconcileContext,
): Promise<ScalePlan> {
  const { cache, client, clock } = context;
  const { namespace = "" } = hpa.metadata;
  if (selector === "") {
    return undecided("InvalidSelector", "the HPA target's scale is missing a selector", "SelectorRequired");
  }
  const pods = await findPods({ namespace, selector }, context);
  if (typeof pods === "string") return undecided("InvalidSelector", pods);
  const competitors = findCompetitors({ hpa, selector, pods }, cache);
  if (competitors.length > 0) {
    const all = [hpa, ...competitors].map(({ metadata }) => `${namespace}/${metadata.name}`).toSorted();
    const message = `pods by selector ${selector} are controlled by multiple HPAs: [${all.join(" ")}]`;
    return undecided("AmbiguousSelector", message);
  }
  const readings = await readMetrics(hpa.spec.metrics ?? [], { client, namespace, selector });
  return planByMetrics(hpa, readings, { specReplicas, statusReplicas, pods, now: clock.now() });
}

/** Returns an error message if the selector is invalid. */
async function findPods(
  { namespace, selector }: { readonly namespace: string; readonly selector: string },
  { cache, inTurns }: ReconcileContext,
): Promise<readonly Pod[] | string> {
  try {
    return await inTurns(cache(Pod).select({ namespace, labels: selector }));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return `couldn't convert selector into a corresponding internal selector object: ${error.message}`;
  }
}

/** Runs before the target is scaled. Otherwise a crash in between would let the same scale policy apply twice in one period. */
async function remember(
  hpa: HorizontalPodAutoscaler,
  history: ScaleHistory,
  { client }: ReconcileContext,
): Promise<HorizontalPodAutoscaler> {
  const changes = { metadata: { annotations: { [HISTORY_ANNOTATION]: writeHistory(history) } } };
  return client(HorizontalPodAutoscaler).patch(hpa, { type: "merge", changes });
}

/** Scales the target and returns the AbleToScale condition with the result. */
async function resize(
  hpa: HorizontalPodAutoscaler,
  { target, plan }: { readonly target: FoundTarget; readonly plan: ScalePlan },
  { client, event }: ReconcileContext,
): Promise<readonly NewCondition[]> {
  if (plan.rescale === undefined) return [];
  const { to, reason } = plan.rescale;
  try {
    await rescale(target, to, client);
  } catch (error) {
    if (!isApiError(error)) throw error;
    const about = `New size: ${to}; reason: ${reason}; error: ${error.message}`;
    event(hpa, { type: "Warning", reason: "FailedRescale", message: about });
    const message = `the HPA controller was unable to update the target scale: ${error.message}`;
    return [{ type: "AbleToScale", status: "False", reason: "FailedUpdateScale", message }];
  }
  event(hpa, { type: "Normal", reason: "SuccessfulRescale", message: `New size: ${to}; reason: ${reason}` });
  const message = `the HPA controller was able to update the target scale to ${to}`;
  return [{ type: "AbleToScale", status: "True", reason: "SucceededRescale", message }];
}

function specChanged({ before, after }: ObjectChange<HorizontalPodAutoscaler>): boolean {
  return before === undefined || after === undefined || !jsonEqual(before.spec, after.spec);
}
