/** Checks an eviction against the pod's PodDisruptionBudget. The controller computes the allowed disruptions; an eviction subtracts one. */
import { ApiError, DeniedError, forbidden } from "../../../api/errors/api-error.ts";
import type { Pod } from "../../../api/generated/types/core-v1.ts";
import type { PodDisruptionBudget } from "../../../api/generated/types/policy-v1.ts";
import { cloneJson } from "../../../api/json/json-clone.ts";
import { cachedLabelSelector, labelsMatch } from "../../../api/selectors/label-selector.ts";
import { timeText } from "../../../api/values/time.ts";
import { isReady } from "../../../resources/pod/pod-state.ts";
import type { ApiObject, Draft } from "../../../resources/rules/kind-rules.ts";
import { prefixEnd } from "../../../store/store.ts";
import type { Registry, StoredResource } from "../../objects/registry.ts";
import { groupResource, requireStored } from "../../objects/registry.ts";
import { prefixOf } from "../../objects/versions.ts";
import { normal } from "../../write/incoming.ts";
import { ObjectWriter } from "../../write/object-writer.ts";
import type { WriteOrigin } from "../../write/write-call.ts";
import type { WriteParts } from "../writing.ts";

export interface EvictionParts extends WriteParts {
  readonly registry: Registry;
}

/** Same as upstream's. More unconfirmed evictions mean that the controller is down. */
const UNCONFIRMED_MAX = 2000;
/** Time in which the controller recomputes the budget. */
const RETRY_SECONDS = 10;
const REFUSED = "Cannot evict pod as it would violate the pod's disruption budget.";

/** Finds the budget that covers the pod. */
export function budgetOf(
  pod: Pod,
  { store, registry, versions }: EvictionParts,
): PodDisruptionBudget | undefined {
  const resource = budgetResource(registry);
  const prefix = prefixOf(resource, pod.metadata.namespace ?? "");
  const found: PodDisruptionBudget[] = [];
  for (const entry of store.accepted.range(prefix, prefixEnd(prefix))) {
    const budget = versions.entry(entry, resource) as PodDisruptionBudget;
    if (covers(budget, pod)) found.push(budget);
  }
  if (found.length > 1) {
    // Upstream's Status has no reason here.
    throw new DeniedError(
      "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
      { code: 500 },
    );
  }
  return found[0];
}

/** A budget with an unreadable selector covers no pod. */
function covers({ spec }: PodDisruptionBudget, { metadata }: Pod): boolean {
  if (spec.selector === undefined) return false;
  try {
    return labelsMatch(cachedLabelSelector(spec.selector), metadata.labels);
  } catch {
    return false;
  }
}

/** A pod that is not ready serves no clients. It may be evicted while enough others are healthy. */
export function ignoresUnready({ spec, status }: PodDisruptionBudget, pod: Pod): boolean {
  if (isReady(pod)) return false;
  if (spec.unhealthyPodEvictionPolicy === "AlwaysAllow") return true;
  return status.desiredHealthy > 0 && status.currentHealthy >= status.desiredHealthy;
}

export interface Disruption {
  readonly pod: Pod;
  readonly isDryRun: boolean;
  readonly origin: WriteOrigin;
}

/** Refuses the eviction or subtracts one from the budget. Two concurrent evictions never spend the same disruption. */
export async function spendDisruption(
  budget: PodDisruptionBudget,
  { pod, isDryRun, origin }: Disruption,
  verbParts: EvictionParts,
): Promise<void> {
  const resource = budgetResource(verbParts.registry);
  const { name, namespace = "" } = budget.metadata;
  const now = timeText(verbParts.loop.now());
  const options = { isDryRun, onConflict: "retry" } as const;
  await new ObjectWriter(verbParts, origin).update({ resource, namespace, name }, options, (previous) => {
    refuseWhenSpent(previous as PodDisruptionBudget, resource);
    const draft = cloneJson(previous) as Draft<PodDisruptionBudget>;
    delete (draft as Draft<ApiObject>).metadata.resourceVersion;
    draft.status.disruptionsAllowed -= 1;
    draft.status.disruptedPods = { ...draft.status.disruptedPods, [pod.metadata.name]: now };
    if (draft.status.disruptionsAllowed === 0) noteExhausted(draft, now);
    return { outcome: "put", object: normal(resource.schema, draft).value as ApiObject };
  });
}

function refuseWhenSpent({ metadata, status }: PodDisruptionBudget, resource: StoredResource): void {
  const { name } = metadata;
  if ((status.observedGeneration ?? 0) < (metadata.generation ?? 0)) {
    throw stillProcessed({ metadata });
  }
  if (status.disruptionsAllowed < 0) {
    throw forbidden(groupResource(resource), name, "pdb disruptions allowed is negative");
  }
  if (Object.keys(status.disruptedPods ?? {}).length > UNCONFIRMED_MAX) {
    const why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
    throw forbidden(groupResource(resource), name, why);
  }
  if (status.disruptionsAllowed > 0) return;
  const failed = (status.conditions ?? []).find(
    ({ type, status: is, reason }) =>
      type === "DisruptionAllowed" && is === "False" && reason === "SyncFailed",
  );
  throw refusal(
    failed === undefined
      ? `The disruption budget ${name} needs ${status.desiredHealthy} healthy pods and has ${status.currentHealthy} currently`
      : `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${failed.message}`,
    0,
  );
}

/** Refusal with a Retry-After, within which the controller updates the budget's status. */
export function stillProcessed({ metadata }: Pick<PodDisruptionBudget, "metadata">): ApiError {
  const message = `The disruption budget ${metadata.name} is still being processed by the server.`;
  return refusal(message, RETRY_SECONDS);
}

function refusal(message: string, retryAfterSeconds: number): ApiError {
  const causes = [{ reason: "DisruptionBudget", message }];
  return new ApiError("TooManyRequests", REFUSED, { details: { causes, retryAfterSeconds } });
}

function noteExhausted(draft: Draft<PodDisruptionBudget>, now: string): void {
  const conditions = draft.status.conditions ?? [];
  const known = conditions.find(({ type }) => type === "DisruptionAllowed");
  const condition = {
    type: "DisruptionAllowed",
    status: "False",
    reason: "InsufficientPods",
    message: "",
    lastTransitionTime: known?.status === "False" ? known.lastTransitionTime : now,
    observedGeneration: draft.status.observedGeneration ?? 0,
  };
  draft.status.conditions = [...conditions.filter((each) => each !== known), condition];
}

function budgetResource(registry: EvictionParts["registry"]): StoredResource {
  return requireStored(registry, "policy", "poddisruptionbudgets");
}
