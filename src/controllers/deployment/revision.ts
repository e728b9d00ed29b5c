/** The annotations by which `kubectl rollout` finds its way through the history of a Deployment, and which say how far scaling has come. */
import type { Deployment, ReplicaSet } from "../../api/generated/types/apps-v1.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import { maxSurge, wantedOf } from "./rollout.ts";

export const REVISION = "deployment.kubernetes.io/revision";
const REVISION_HISTORY = "deployment.kubernetes.io/revision-history";
const DESIRED_REPLICAS = "deployment.kubernetes.io/desired-replicas";
const MAX_REPLICAS = "deployment.kubernetes.io/max-replicas";

/** Asks to go back to a revision. */
export const ROLLBACK_TO = "deprecated.deployment.rollback.to";

/** A set's own, or a tool's: not to be copied from the Deployment. */
const NOT_COPIED: ReadonlySet<string> = new Set([
  REVISION,
  REVISION_HISTORY,
  DESIRED_REPLICAS,
  MAX_REPLICAS,
  "kubectl.kubernetes.io/last-applied-configuration",
  ROLLBACK_TO,
]);
/** Older numbers are forgotten beyond this, so that a Deployment that goes back and forth for ever does not grow. */
const HISTORY_LENGTH_MAX = 2000;
/** The largest signed number of 64 bits, which has no successor. */
const REVISIONS_END = 2n ** 63n - 1n;

type Annotations = Readonly<Record<string, string>>;
type Annotated = Pick<Deployment | ReplicaSet, "metadata">;

/** Whether an annotation of the Deployment is also one of its sets. */
export function isCopied(annotation: string): boolean {
  return !NOT_COPIED.has(annotation);
}

/** Counted in 64 bits, as upstream does; what is no such number counts as none. */
export function revisionOf({ metadata }: Annotated): bigint {
  return revisionIn(metadata.annotations?.[REVISION]);
}

function revisionIn(text = ""): bigint {
  if (!/^\d{1,19}$/.test(text)) return 0n;
  const revision = BigInt(text);
  return revision < REVISIONS_END ? revision : 0n;
}

/** One more than any earlier one has; at the end of the numbers there is no next one, and the last is used again. */
export function nextRevision(oldSets: readonly ReplicaSet[]): bigint {
  let last = 0n;
  for (const set of oldSets) {
    const revision = revisionOf(set);
    if (revision > last) last = revision;
  }
  return last + 1n < REVISIONS_END ? last + 1n : last;
}

/** What the set of the present template should carry, given what it carries. A set that comes back into use remembers what it was. */
export function newSetAnnotations(
  { metadata }: Deployment,
  known: Annotations | undefined,
  revision: bigint,
): Annotations {
  const copied = Object.entries(metadata.annotations ?? {}).filter(([name]) => isCopied(name));
  const kept = { ...known, ...Object.fromEntries(copied) };
  const before = known?.[REVISION];
  if (before !== undefined && revisionIn(before) >= revision) return kept;
  return { ...kept, [REVISION]: String(revision), ...historyWith(known, before) };
}

function historyWith(known: Annotations | undefined, before: string | undefined): Annotations {
  if (before === undefined) return {};
  const parts = [...(known?.[REVISION_HISTORY] ?? "").split(",").filter((part) => part !== ""), before];
  while (parts.join(",").length > HISTORY_LENGTH_MAX) parts.shift();
  return { [REVISION_HISTORY]: parts.join(",") };
}

/** With these a set says for which size of the Deployment its own size was chosen. */
export function scaleAnnotations(deployment: Deployment): Annotations {
  const replicas = wantedOf(deployment);
  return {
    [DESIRED_REPLICAS]: String(replicas),
    [MAX_REPLICAS]: String(replicas + maxSurge(deployment)),
  };
}

export function desiredReplicasOf(set: ReplicaSet): number | undefined {
  return numberIn(set, DESIRED_REPLICAS);
}

export function maxReplicasOf(set: ReplicaSet): number | undefined {
  return numberIn(set, MAX_REPLICAS);
}

function numberIn({ metadata }: ReplicaSet, name: string): number | undefined {
  const text = metadata.annotations?.[name] ?? "";
  return /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}

export function haveSameAnnotations({ metadata }: ReplicaSet, annotations: Annotations): boolean {
  return jsonEqual(metadata.annotations ?? {}, annotations);
}
