/**
 * Clears away pods that nobody else will: those whose node is gone, those that were deleted before they had a node or whose node is out of
 * service, and the oldest of very many that have ended.
 *
 * Reads Pods and Nodes; sets the phase of such pods to Failed where they have not ended, and deletes them at once.
 */
import { isApiError } from "../../api/errors/api-error.ts";
import { Node, Pod } from "../../api/generated/types/core-v1.ts";
import { isTerminal } from "../../resources/pod/pod-state.ts";
import type { Routine, RoutineParts } from "../../runtime/manager/routine.ts";
import { nextRound } from "../next-round.ts";
import { disruptionTarget } from "../pods/disruption-target.ts";
import { missingNodes, planPodGc } from "./plan-pod-gc.ts";
import type { Victim } from "./plan-pod-gc.ts";

export const podGcRoutine: Routine = {
  name: "pod-garbage-collector-controller",
  reads: [Pod, Node],
  run,
};

const PERIOD_MS = 20_000;
/** A node that is not there may only not be there yet. */
const QUARANTINE_MS = 40_000;
const PARALLEL = 20;
const WHY = { reason: "DeletionByPodGC", message: "PodGC: node no longer exists" };

/** By name: since when a node that pods are on has been missing. */
type Quarantine = Map<string, number>;

interface Progress {
  readonly quarantine: Quarantine;
  /** What was there when nothing was to be done: a list of the cache stays the same while nothing changes. */
  clean: { readonly pods: readonly Pod[]; readonly nodes: readonly Node[] } | undefined;
}

async function run(parts: RoutineParts, signal: AbortSignal): Promise<void> {
  const progress: Progress = { quarantine: new Map(), clean: undefined };
  while (await nextRound(parts.loop, PERIOD_MS, signal)) await collect(parts, progress, signal);
}

async function collect(parts: RoutineParts, progress: Progress, signal: AbortSignal): Promise<void> {
  const { cache, log } = parts;
  const { quarantine, clean } = progress;
  const findNode = (name: string): Node | undefined => cache(Node).find({ name });
  const [pods, nodes] = [cache(Pod).list(), cache(Node).list()];
  if (pods === clean?.pods && nodes === clean.nodes) return;
  try {
    const goneNodes = await findGone(parts, quarantine, missingNodes({ pods, findNode }));
    const victims = planPodGc({ pods, findNode, goneNodes });
    progress.clean = victims.length === 0 && quarantine.size === 0 ? { pods, nodes } : undefined;
    for (let at = 0; at < victims.length && !signal.aborted; at += PARALLEL)
      await Promise.all(victims.slice(at, at + PARALLEL).map((victim) => end(parts, victim)));
  } catch (error) {
    if (!signal.aborted) log.warn("pods could not be cleared away; the next round tries again", { error });
  }
}

/** Those that have been missing for long enough, and of which the server says that they are gone. */
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

/** One pod that cannot be ended does not hold up the others. */
async function end({ client, loop, log }: RoutineParts, { pod, why }: Victim): Promise<void> {
  try {
    if (!isTerminal(pod)) await fail({ client, loop }, pod, why);
    await client(Pod).delete(pod, { gracePeriodSeconds: 0 });
    log.info("a pod was cleared away", { namespace: pod.metadata.namespace, pod: pod.metadata.name, why });
  } catch (error) {
    if (isApiError(error, "NotFound")) return;
    const { namespace, name } = pod.metadata;
    log.warn("a pod could not be cleared away; the next round tries again", { namespace, pod: name, error });
  }
}

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
