/** Carries out a StatefulSet's plan and records Events. */
import { isApiError } from "../../api/errors/api-error.ts";
import type { StatefulSet } from "../../api/generated/types/apps-v1.ts";
import { PersistentVolumeClaim, Pod } from "../../api/generated/types/core-v1.ts";
import type { ReconcileContext } from "../../runtime/controller/controller.ts";
import { slowStart } from "../../runtime/controller/slow-start.ts";
import { textOf } from "../pods/pod-changes.ts";
import { isNamespaceTerminating } from "../terminating-namespace.ts";
import { claimName, isStale, newClaims, planOwners } from "./claims.ts";
import { identityLabels, newPod, podName } from "./new-set-pod.ts";
import type { PodStep } from "./plan-steps.ts";
import { ordinalOf } from "./set-pods.ts";
import type { SetView } from "./set-pods.ts";

interface Steps {
  readonly set: StatefulSet;
  readonly context: ReconcileContext;
  /** Collects created pods, even if other creations fail. */
  readonly made: Pod[];
}

/** Batches of growing size limit repeated failures. Throws the first error. */
export async function takeSteps(steps: readonly PodStep[], { set, context, made }: Steps): Promise<void> {
  const { errors } = await slowStart(steps.length, async (at) => {
    const step = steps[at];
    if (step?.type === "delete") await deletePod(set, step, context);
    const pod = step?.type === "create" ? await createPod(set, step, context) : undefined;
    if (pod !== undefined) made.push(pod);
  });
  if (errors.length > 0) throw errors[0];
}

/**
 * Repairs labels and claim owners that users changed, and creates missing claims of pending pods. Returns the errors of claim creations:
 * only the claims' pods are affected.
 */
export async function repair(
  { set, slots, condemned }: SetView,
  context: ReconcileContext,
): Promise<readonly unknown[]> {
  const waiting = slots.filter(({ pod }) => pod?.status.phase === "Pending");
  const { errors } = await slowStart(waiting.length, async (at) => {
    const { ordinal } = waiting[at] ?? {};
    if (ordinal !== undefined) await ensureClaims(set, ordinal, context);
  });
  const pods = slots.flatMap(({ pod }) => pod ?? []);
  for (const pod of pods) await repairLabels(set, pod, context);
  for (const pod of [...pods, ...condemned]) await repairOwners(set, pod, context);
  return errors;
}

/** Undefined if the pod cannot be created yet, or never. */
async function createPod(
  set: StatefulSet,
  { ordinal, revision }: Extract<PodStep, { type: "create" }>,
  context: ReconcileContext,
): Promise<Pod | undefined> {
  const name = podName(set, ordinal);
  if (claimsOf(set, ordinal, context).some((claim) => isStale(claim, name))) return undefined;
  try {
    await ensureClaims(set, ordinal, context);
    const pod = await context.client(Pod).create(newPod(set, ordinal, revision));
    report(set, context, { verb: "create", name });
    return pod;
  } catch (error) {
    if (isNamespaceTerminating(error)) return undefined;
    // Another owner's pod has the name: upstream records no Event either.
    if (!isApiError(error, "AlreadyExists")) report(set, context, { verb: "create", name, error });
    throw error;
  }
}

async function deletePod(
  set: StatefulSet,
  { pod }: Extract<PodStep, { type: "delete" }>,
  context: ReconcileContext,
): Promise<void> {
  const { name } = pod.metadata;
  try {
    await context.client(Pod).delete(pod);
    report(set, context, { verb: "delete", name });
  } catch (error) {
    if (isApiError(error, "NotFound")) return;
    report(set, context, { verb: "delete", name, error });
    throw error;
  }
}

async function ensureClaims(set: StatefulSet, ordinal: number, context: ReconcileContext): Promise<void> {
  const { namespace } = set.metadata;
  for (const manifest of newClaims(set, ordinal)) {
    const name = manifest.metadata?.name ?? "";
    const known = context.cache(PersistentVolumeClaim).find({ namespace, name });
    if (known?.metadata.deletionTimestamp !== undefined) throw new Error(`pvc ${name} is being deleted`);
    if (known !== undefined) continue;
    try {
      await context.client(PersistentVolumeClaim).create(manifest);
      reportClaim(set, context, { name, ordinal });
    } catch (error) {
      if (isApiError(error, "AlreadyExists")) continue;
      reportClaim(set, context, { name, ordinal, error });
      throw error;
    }
  }
}

async function repairLabels(set: StatefulSet, pod: Pod, context: ReconcileContext): Promise<void> {
  const labels = identityLabels(set, ordinalOf(pod, set) ?? 0);
  const isRight = Object.entries(labels).every(([key, value]) => pod.metadata.labels?.[key] === value);
  if (isRight || pod.metadata.deletionTimestamp !== undefined) return;
  const { name, uid } = pod.metadata;
  await context.client(Pod).patch(pod, { type: "merge", changes: { metadata: { uid, labels } } });
  report(set, context, { verb: "update", name });
}

async function repairOwners(set: StatefulSet, pod: Pod, context: ReconcileContext): Promise<void> {
  for (const claim of claimsOf(set, ordinalOf(pod, set) ?? 0, context)) {
    const ownerReferences = planOwners(set, pod, claim);
    if (ownerReferences === undefined || claim.metadata.deletionTimestamp !== undefined) continue;
    const { uid, resourceVersion } = claim.metadata;
    const changes = { metadata: { uid, resourceVersion, ownerReferences } };
    await context.client(PersistentVolumeClaim).patch(claim, { type: "merge", changes });
  }
}

function claimsOf(
  set: StatefulSet,
  ordinal: number,
  { cache }: ReconcileContext,
): readonly PersistentVolumeClaim[] {
  const { namespace } = set.metadata;
  const templates = set.spec.volumeClaimTemplates ?? [];
  return templates.flatMap(
    (template) =>
      cache(PersistentVolumeClaim).find({ namespace, name: claimName(set, template, ordinal) }) ?? [],
  );
}

interface PodAction {
  readonly verb: "create" | "delete" | "update";
  readonly name: string;
  readonly error?: unknown;
}

function report(set: StatefulSet, context: ReconcileContext, { verb, name, error }: PodAction): void {
  const what = `${verb} Pod ${name} in StatefulSet ${set.metadata.name}`;
  const title = `${verb.charAt(0).toUpperCase()}${verb.slice(1)}`;
  if (error === undefined) {
    context.event(set, { type: "Normal", reason: `Successful${title}`, message: `${what} successful` });
  } else {
    const message = `${what} failed error: ${textOf(error)}`;
    context.event(set, { type: "Warning", reason: `Failed${title}`, message });
  }
}

function reportClaim(
  set: StatefulSet,
  context: ReconcileContext,
  { name, ordinal, error }: { readonly name: string; readonly ordinal: number; readonly error?: unknown },
): void {
  const pod = podName(set, ordinal);
  if (error === undefined) {
    const message = `create Claim ${name} Pod ${pod} in StatefulSet ${set.metadata.name} success`;
    context.event(set, { type: "Normal", reason: "SuccessfulCreate", message });
  } else {
    const message = `create Claim ${name} for Pod ${pod} in StatefulSet ${set.metadata.name} failed error: ${textOf(error)}`;
    context.event(set, { type: "Warning", reason: "FailedCreate", message });
  }
}
