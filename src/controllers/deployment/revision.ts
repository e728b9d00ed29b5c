/** Annotations with a Deployment's revision history, for `kubectl rollout`, and with the progress of its scaling. */
import type { Deployment, ReplicaSet } from "../../api/generated/types/apps-v1.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import { maxSurge, wantedOf } from "./rollout.ts";

export const REVISION = "deployment.kubernetes.io/revision";
const REVISION_HISTORY = "deployment.kubernetes.io/revision-history";
const DESIRED_REPLICAS = "deployment.kubernetes.io/desired-replicas";
const MAX_REPLICAS = "deployment.kubernetes.io/max-replicas";

/** Annotation that requests a rollback to a revision. */
export const ROLLBACK_TO = "deprecated.deployment.rollback.to";

/** Annotations that belong to one object and are not copied from the Deployment to its sets. */
const NOT_COPIED: ReadonlySet<string> = new Set([
  REVISION,
  REVISION_HISTORY,
  DESIRED_REPLICAS,
  MAX_REPLICAS,
  "kubectl.kubernetes.io/last-applied-configuration",
  ROLLBACK_TO,
]);
/** Upper bound of the history's length. Older revisions are dropped, so that repeated rollbacks do not grow it. */
const HISTORY_LENGTH_MAX = 2000;
/** Largest int64: it has no successor. */
const REVISIONS_END = 2n ** 63n - 1n;

type Annotations = Readonly<Record<string, string>>;
type Annotated = Pick<Deployment | ReplicaSet, "metadata">;

/** The controller copies this annotation from the Deployment to its sets. */
export function isCopied(annotation: string): boolean {
  return !NOT_COPIED.has(annotation);
}

/** A 64-bit number, as upstream's; an invalid one counts as 0. */
export function revisionOf({ metadata }: Annotated): bigint {
  return revisionIn(metadata.annotations?.[REVISION]);
}

function revisionIn(text = ""): bigint {
  if (!/^\d{1,19}$/.test(text)) return 0n;
  const revision = BigInt(text);
  return revision < REVISIONS_END ? revision : 0n;
}

/** One more than the greatest old revision; the last number is used again. */
export function nextRevision(oldSets: readonly ReplicaSet[]): bigint {
  let last = 0n;
  for (const set of oldSets) {
    const revision = revisionOf(set);
    if (revision > last) last = revision;
  }
  return last + 1n < REVISIONS_END ? last + 1n : last;
}

/** Annotations for the set of the current template. A set that is reused records its earlier revisions. */
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

/** Records the Deployment size for which the set's own size was computed. */
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
