/**
 * Empties namespaces that are being deleted, says in their conditions what holds them up, and lets them go once nothing is left.
 *
 * Reads Namespaces, Pods and discovery; deletes every object in the namespace, pods before everything else; writes Namespace status and
 * takes `kubernetes` off the finalizers in its spec.
 */
import { isApiError } from "../../api/errors/api-error.ts";
import { Namespace, Pod } from "../../api/generated/types/core-v1.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import { defineController, watching } from "../../runtime/controller/controller.ts";
import type { Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";
import { removeContent } from "./content.ts";
import type { ContentReport } from "./content.ts";
import { planConditions } from "./plan-conditions.ts";

export const namespaceController = defineController({
  name: "namespace-controller",
  for: Namespace,
  watches: [
    // Everything else waits for the last pod, which then has not to be found out by looking again.
    watching(Pod, ({ before, after }, read) => {
      const { namespace = "" } = before?.metadata ?? {};
      if (after !== undefined || !isTerminating(read(Namespace).find({ name: namespace }))) return [];
      return read(Pod).list({ namespace }).length === 0 ? [{ name: namespace }] : [];
    }),
  ],
  reconcile,
});

const KEEPER = "kubernetes";
/** As upstream's: whoever deletes a namespace and then, one by one, what is in it (`kubectl delete -f`) still finds it there. */
const PATIENCE_MS = 5000;

async function reconcile(namespace: Namespace, context: ReconcileContext): Promise<Outcome> {
  if (!isTerminating(namespace) || !isKept(namespace)) return undefined;
  const { name } = namespace.metadata;
  const now = context.clock.now();
  const leftMs = Date.parse(namespace.metadata.deletionTimestamp ?? "") + PATIENCE_MS - now;
  if (leftMs > 0) return { recheckAfterMs: leftMs, timer: "progress" };
  const pods = context.cache(Pod).list({ namespace: name });
  const report = await removeContent(context.client, { namespace, pods, now });

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

function isKept({ spec }: Namespace): boolean {
  return spec.finalizers?.includes(KEEPER) ?? false;
}

/**
 * Half of the time that it may take, as upstream does. What does not move is left to those whose finalizers hold it, and looked at from time
 * to time.
 */
function recheckOf({ graceSeconds, waitSeconds }: ContentReport, isMoving: boolean): Outcome {
  const recheckAfterMs = (Math.floor(waitSeconds / 2) + 1) * 1000;
  return { recheckAfterMs, timer: graceSeconds > 0 || isMoving ? "progress" : "periodic" };
}

async function finalize(namespace: Namespace, { client }: ReconcileContext): Promise<void> {
  const finalizers = namespace.spec.finalizers?.filter((finalizer) => finalizer !== KEEPER) ?? [];
  try {
    const body = { ...namespace, spec: { ...namespace.spec, finalizers } };
    await client(Namespace).subresource("finalize").update(namespace, body);
  } catch (error) {
    if (!isApiError(error, "NotFound")) throw error;
  }
}
