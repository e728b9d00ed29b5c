/**
 * Empties namespaces that are being deleted, reports obstacles in their conditions, and finalizes them once empty.
 *
 * Reads Namespaces, Pods and discovery. Deletes every object in the namespace, pods first. Writes Namespace status and removes the
 * finalizer `kubernetes` from its spec.
 */
import { isApiError } from "../../api/errors/api-error.ts";
import { Namespace, Pod } from "../../api/generated/types/core-v1.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import { defineController, watching } from "../../runtime/controller/controller.ts";
import type { Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";
import { remainingGrace, removeContent } from "./content.ts";
import type { ContentReport } from "./content.ts";
import { planConditions } from "./plan-conditions.ts";

export const namespaceController = defineController({
  name: "namespace-controller",
  for: Namespace,
  watches: [
    // The end of the last pod triggers the deletion of the other objects.
    watching(Pod, ({ before, after }, read) => {
      const { namespace = "" } = before?.metadata ?? {};
      if (after !== undefined || !isTerminating(read(Namespace).find({ name: namespace }))) return [];
      return read(Pod).countIn(namespace) === 0 ? [{ name: namespace }] : [];
    }),
  ],
  reconcile,
});

const FINALIZER = "kubernetes";
/** Delay as upstream's: `kubectl delete -f` of a namespace and its objects still finds the objects. */
const DELAY_MS = 5000;

async function reconcile(namespace: Namespace, context: ReconcileContext): Promise<Outcome> {
  if (!isTerminating(namespace) || !hasFinalizer(namespace)) return undefined;
  const { name } = namespace.metadata;
  const now = context.clock.now();
  const leftMs = Date.parse(namespace.metadata.deletionTimestamp ?? "") + DELAY_MS - now;
  if (leftMs > 0) return { recheckAfterMs: leftMs, timer: "progress" };
  const pods = context.cache(Pod).walk(name);
  const graceSeconds = await context.inTurns(remainingGrace(namespace, pods, now));
  const report = await removeContent(context.client, { namespace: name ?? "", graceSeconds });

  const conditions = planConditions(namespace.status.conditions, report, now);
  const isMoving = !jsonEqual(conditions, namespace.status.conditions);
  const newest = await context.updateStatus(namespace, { phase: "Terminating", conditions });
  if (report.errors.length > 0) throw new AggregateError(report.errors, `namespace ${name} is not yet empty`);
  if (report.remaining.size > 0) return recheckOf(report, isMoving);
  await finalize(newest, context);
  return undefined;
}

function isTerminating(namespace: Namespace | undefined): boolean {
  return namespace?.metadata.deletionTimestamp !== undefined;
}

function hasFinalizer({ spec }: Namespace): boolean {
  return spec.finalizers?.includes(FINALIZER) ?? false;
}

/** Half of the estimated time, as upstream's. Without progress, only finalizer owners can act: a periodic check suffices. */
function recheckOf({ graceSeconds, waitSeconds }: ContentReport, isMoving: boolean): Outcome {
  const recheckAfterMs = (Math.floor(waitSeconds / 2) + 1) * 1000;
  return { recheckAfterMs, timer: graceSeconds > 0 || isMoving ? "progress" : "periodic" };
}

async function finalize(namespace: Namespace, { client }: ReconcileContext): Promise<void> {
  const finalizers = namespace.spec.finalizers?.filter((finalizer) => finalizer !== FINALIZER) ?? [];
  try {
    const body = { ...namespace, spec: { ...namespace.spec, finalizers } };
    await client(Namespace).subresource("finalize").update(namespace, body);
  } catch (error) {
    if (!isApiError(error, "NotFound")) throw error;
  }
}
