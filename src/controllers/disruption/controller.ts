/**
 * Keeps the number of allowed evictions in the status of each PodDisruptionBudget.
 *
 * Reads PodDisruptionBudgets, Pods and the Pods' controllers, for the expected number of pods. Writes PodDisruptionBudget status.
 */
import { Deployment, ReplicaSet, StatefulSet } from "../../api/generated/types/apps-v1.ts";
import { Pod, ReplicationController } from "../../api/generated/types/core-v1.ts";
import { PodDisruptionBudget } from "../../api/generated/types/policy-v1.ts";
import { cachedLabelSelector, labelSelectorText, labelsMatch } from "../../api/selectors/label-selector.ts";
import { defineController, indexing, watching } from "../../runtime/controller/controller.ts";
import type { Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";
import { perRunState } from "../per-run-state.ts";
import { selectedValues, selectingValue } from "../pods/selecting.ts";
import { expectedPods } from "./expected-pods.ts";
import { failedStatus, needsExpected, planBudget } from "./plan-budget.ts";

/** Index of budgets by a label that their pods must have. */
const SELECTING = "disruption/selecting";

export const disruptionController = defineController({
  name: "disruption-controller",
  for: PodDisruptionBudget,
  watches: [
    watching(Pod, function* ({ before, after }, cache) {
      for (const value of selectedValues(before, after)) {
        for (const budget of cache(PodDisruptionBudget).indexed(SELECTING, value)) {
          const { namespace, name } = budget.metadata;
          if ([before, after].some((pod) => pod !== undefined && covers(budget, pod)))
            yield { namespace, name };
        }
      }
    }),
  ],
  indexes: [indexing(PodDisruptionBudget, SELECTING, selectingValues)],
  reads: [Deployment, ReplicaSet, StatefulSet, ReplicationController],
  reconcile,
});

async function reconcile(budget: PodDisruptionBudget, context: ReconcileContext): Promise<Outcome> {
  const { clock, event, updateStatus } = context;
  const { namespace = "" } = budget.metadata;
  const pods = await coveredPods(budget, context);
  warnShared(budget, pods, context);
  if (pods.length === 0)
    event(budget, { type: "Normal", reason: "NoPods", message: "No matching pods found" });
  const expected = needsExpected(budget) ? await expectedPods(pods, context) : undefined;
  if (expected?.type === "unknown") {
    const message = `Failed to calculate the number of expected pods: ${expected.why}`;
    event(budget, { type: "Warning", reason: "CalculateExpectedPodCountFailed", message });
    await updateStatus(budget, failedStatus(budget, expected.why, clock.now()));
    return undefined;
  }
  if (expected?.areSomeUnmanaged === true) warnUnmanaged(budget, context);
  const plan = planBudget(budget, { pods, expected: expected?.count, now: clock.now() });
  await updateStatus(budget, plan.status);
  for (const pod of plan.overdue) {
    const message = `Pod was expected by PDB ${namespace}/${budget.metadata.name} to be deleted but it wasn't`;
    event(pod, { type: "Warning", reason: "NotDeleted", message });
  }
  return plan.recheckAfterMs === undefined ? undefined : { recheckAfterMs: plan.recheckAfterMs };
}

function selectingValues({ metadata, spec }: PodDisruptionBudget): readonly string[] {
  if (spec.selector === undefined) return [];
  return [selectingValue(metadata.namespace ?? "", cachedLabelSelector(spec.selector))];
}

async function coveredPods(
  { metadata, spec }: PodDisruptionBudget,
  { cache, inTurns }: ReconcileContext,
): Promise<readonly Pod[]> {
  if (spec.selector === undefined) return [];
  const { namespace = "" } = metadata;
  return await inTurns(cache(Pod).select({ namespace, labels: spec.selector }));
}

/** A budget without a selector covers no pods. */
function covers({ spec, metadata }: PodDisruptionBudget, pod: Pod): boolean {
  if (spec.selector === undefined || pod.metadata.namespace !== metadata.namespace) return false;
  return labelsMatch(cachedLabelSelector(spec.selector), pod.metadata.labels);
}

/** Versions of pods already checked: one budget per pod suffices for the check. */
const countedIn = perRunState(() => new WeakSet<Pod>());

/** Warns about pods of several budgets: the server refuses to evict them. */
function warnShared(
  { metadata: { namespace = "" } }: PodDisruptionBudget,
  pods: readonly Pod[],
  { cache, event }: ReconcileContext,
): void {
  const counted = countedIn(cache);
  const fresh = pods.filter((pod) => !counted.has(pod));
  if (fresh.length === 0) return;
  const budgets = cache(PodDisruptionBudget).list({ namespace });
  for (const pod of fresh) {
    counted.add(pod);
    const names = budgets.filter((each) => covers(each, pod)).map(({ metadata }) => metadata.name);
    const [first = "", ...others] = names.toSorted();
    if (others.length === 0) continue;
    const which = `Pod "${namespace}"/"${pod.metadata.name}" matches multiple PodDisruptionBudgets.`;
    const message = `${which}  Chose "${first}" arbitrarily.`;
    event(pod, { type: "Warning", reason: "MultiplePodDisruptionBudgets", message });
  }
}

function warnUnmanaged(budget: PodDisruptionBudget, { event }: ReconcileContext): void {
  const selector = labelSelectorText(cachedLabelSelector(budget.spec.selector ?? {}));
  const message =
    `Pods selected by this PodDisruptionBudget (selector: ${selector}) were found to be unmanaged. ` +
    "As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. " +
    'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.';
  event(budget, { type: "Warning", reason: "UnmanagedPods", message });
}
