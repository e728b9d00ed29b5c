/**
 * Deletes pods that no other component deletes.
 *
 * These are pods of missing nodes, deleted pods without a working node, and the oldest of too many ended pods. Reads Pods and Nodes; sets
 * the phase of unfinished ones to Failed and deletes them without grace period.
 */
import { isApiError } from "../../api/errors/api-error.ts";
import { Node, Pod } from "../../api/generated/types/core-v1.ts";
import { isTerminal } from "../../resources/pod/pod-state.ts";
import { indexing } from "../../runtime/controller/controller.ts";
import type { Routine, RoutineParts } from "../../runtime/manager/routine.ts";
import { objectCause, withCause, type StatedCause } from "../../runtime/manager/stated-cause.ts";
import { nextPeriod } from "../next-period.ts";
import { disruptionTarget } from "../pods/disruption-target.ts";
import { nodesWithPods, podsByNode, podsOnNode } from "../pods/pods-by-node.ts";
import { isCandidate, missingNodes, planPodGc } from "./plan-pod-gc.ts";
import type { Victim } from "./plan-pod-gc.ts";

/** Index of the pods that a round must look at, in addition to those of missing nodes. */
const CANDIDATES = "pod-gc/candidates";
const CANDIDATE = "yes";

export const podGcRoutine: Routine = {
  name: "pod-garbage-collector-controller",
  reads: [Pod, Node],
  indexes: [podsByNode, indexing(Pod, CANDIDATES, (pod) => (isCandidate(pod) ? [CANDIDATE] : []))],
  run,
};

const PERIOD_MS = 20_000;
/** Delay before a missing node counts as gone: the cache may not have it yet. */
const QUARANTINE_MS = 40_000;
const PARALLEL = 20;
const WHY = { reason: "DeletionByPodGC", message: "PodGC: node no longer exists" };

/** Start of absence by node name, for missing nodes with pods. */
type Quarantine = Map<string, number>;

async function run(parts: RoutineParts, signal: AbortSignal): Promise<void> {
  const quarantine: Quarantine = new Map();
  while (await nextPeriod(parts.loop, PERIOD_MS, signal)) await collect(parts, quarantine, signal);
}

async function collect(parts: RoutineParts, quarantine: Quarantine, signal: AbortSignal): Promise<void> {
  const { cache, log } = parts;
  const findNode = (name: string): Node | undefined => cache(Node).find({ name });
  try {
    const missing = missingNodes({ names: nodesWithPods(cache), findNode });
    const goneNodes = await findGone(parts, quarantine, missing);
    const pods = new Set(cache(Pod).indexed(CANDIDATES, CANDIDATE));
    for (const name of goneNodes) for (const pod of podsOnNode(name, cache)) pods.add(pod);
    const victims = planPodGc({ pods: [...pods], findNode, goneNodes });
    for (let at = 0; at < victims.length && !signal.aborted; at += PARALLEL)
      await Promise.all(victims.slice(at, at + PARALLEL).map((victim) => end(parts, victim)));
  } catch (error) {
    if (!signal.aborted) log.warn("cannot clean up pods; retrying in the next round", { error });
  }
}

/** Nodes that were missing for long enough and that the server confirms to be gone. */
async function findGone(
  { client, loop }: RoutineParts,
  quarantine: Quarantine,
  missing: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const now = loop.now();
  for (const name of quarantine.keys()) if (!missing.has(name)) quarantine.delete(name);
  for (const name of missing) if (!quarantine.has(name)) quarantine.set(name, now);
  const gone = new Set<string>();
  for (const [name, since] of quarantine) {
    if (now - since < QUARANTINE_MS) continue;
    const node = await client(Node).find({ name });
    if (node === undefined) gone.add(name);
    else quarantine.delete(name);
  }
  return gone;
}

/** A pod that cannot be deleted does not stop the others. */
async function end({ client: plain, loop, log }: RoutineParts, { pod, why }: Victim): Promise<void> {
  const client = withCause(plain, {
    loop: "pod-garbage-collector",
    type: Pod,
    object: pod,
    ...causeOf(pod, why),
  });
  try {
    if (!isTerminal(pod)) await fail({ client, loop }, pod, why);
    await client(Pod).delete(pod, { gracePeriodSeconds: 0 });
    log.info("cleaned up a pod", { namespace: pod.metadata.namespace, pod: pod.metadata.name, why });
  } catch (error) {
    if (isApiError(error, "NotFound")) return;
    const { namespace, name } = pod.metadata;
    log.warn("cannot clean up a pod; retrying in the next round", { namespace, pod: name, error });
  }
}

function causeOf(pod: Pod, why: Victim["why"]): Pick<StatedCause, "note" | "reasons"> {
  const note = NOTES[why];
  if (why !== "orphaned") return { note };
  const node = { metadata: { name: pod.spec.nodeName ?? "" } };
  return { note, reasons: [{ ...objectCause({ type: Node, object: node }), isGone: true }] };
}

const NOTES: Readonly<Record<Victim["why"], string>> = {
  terminated: "is one of too many pods that have ended",
  "out of service": "is being deleted on a node that is out of service",
  orphaned: "is bound to a node that is gone",
  unscheduled: "was deleted before it had a node",
};

async function fail(
  { client, loop }: Pick<RoutineParts, "client" | "loop">,
  pod: Pod,
  why: Victim["why"],
): Promise<void> {
  const conditions = why === "orphaned" ? [disruptionTarget(pod, WHY, loop.now())] : [];
  const status = { phase: "Failed", ...(conditions.length > 0 && { conditions }) };
  const changes = { metadata: { uid: pod.metadata.uid }, status };
  await client(Pod).patch(pod, { type: "strategic", changes }, { subresource: "status" });
}
