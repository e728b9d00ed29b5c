/**
 * Rolls a Deployment back to an earlier template. An annotation requests it, in place of a field of API versions no longer served.
 *
 * `kubectl rollout undo` writes the template itself and does not need this.
 */
import type { Deployment, ReplicaSet } from "../../api/generated/types/apps-v1.ts";
import type { RecordedEvent } from "../../runtime/events/recorded-event.ts";
import { isCopied, revisionOf, ROLLBACK_TO } from "./revision.ts";
import { allSets, matchesTemplate, withoutHash } from "./rollout.ts";
import type { Rollout } from "./rollout.ts";

export interface RollbackPlan {
  /** Deployment without the rollback annotation, even if the rollback fails: one request is one try. */
  readonly changed: Deployment;
  readonly event: RecordedEvent;
}

/** Undefined if no rollback is requested; 0 means the previous revision. */
export function findRollback({ metadata, spec }: Deployment): bigint | undefined {
  const text = metadata.annotations?.[ROLLBACK_TO] ?? "";
  if (spec.paused === true || metadata.deletionTimestamp !== undefined) return undefined;
  return /^[+-]?\d{1,18}$/.test(text) ? BigInt(text.replace(/^\+/, "")) : undefined;
}

export function planRollback(deployment: Deployment, asked: bigint, rollout: Rollout): RollbackPlan {
  const sets = allSets(rollout);
  const revision = asked === 0n ? lastRevision(sets) : asked;
  const changed = withAnnotations(deployment, ownAnnotations(deployment));
  if (revision === 0n) return { changed, event: notFound("Unable to find last revision.") };
  const set = sets.find((each) => revisionOf(each) === revision);
  if (set === undefined) return { changed, event: notFound("Unable to find the revision to rollback to.") };
  const name = JSON.stringify(deployment.metadata.name);
  if (matchesTemplate(set, deployment.spec.template)) {
    const message = `The rollback revision contains the same template as current deployment ${name}`;
    return { changed, event: { type: "Warning", reason: "DeploymentRollbackTemplateUnchanged", message } };
  }
  const message = `Rolled back deployment ${name} to revision ${String(revision)}`;
  return {
    changed: {
      ...withSetAnnotations(changed, set),
      spec: { ...changed.spec, template: withoutHash(set.spec.template) },
    },
    event: { type: "Normal", reason: "DeploymentRollback", message },
  };
}

function notFound(message: string): RecordedEvent {
  return { type: "Warning", reason: "DeploymentRollbackRevisionNotFound", message };
}

/** Second greatest revision; 0 if there are fewer than two. */
function lastRevision(sets: readonly ReplicaSet[]): bigint {
  const [, last = 0n] = sets
    .map(revisionOf)
    .toSorted((left, right) => (left > right ? -1 : Number(left < right)));
  return last;
}

type Annotations = Readonly<Record<string, string>>;

function ownAnnotations({ metadata }: Deployment): Annotations {
  const { [ROLLBACK_TO]: _requested, ...annotations } = metadata.annotations ?? {};
  return annotations;
}

/** Restores the annotations of the earlier template and drops the current one's. */
function withSetAnnotations(deployment: Deployment, set: ReplicaSet): Deployment {
  const kept = Object.entries(deployment.metadata.annotations ?? {}).filter(([name]) => !isCopied(name));
  const copied = Object.entries(set.metadata.annotations ?? {}).filter(([name]) => isCopied(name));
  return withAnnotations(deployment, Object.fromEntries([...kept, ...copied]));
}

function withAnnotations(deployment: Deployment, annotations: Annotations): Deployment {
  return { ...deployment, metadata: { ...deployment.metadata, annotations } };
}
