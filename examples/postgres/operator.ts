/**
 * Keeps PostgreSQL clusters: a StatefulSet with its Services, configuration and credentials, and backups as a CronJob. Before a cluster that has
 * backups goes, a last one is made.
 *
 * Reads PostgresClusters and what it made for them; writes those children, the cluster's status and its finalizer.
 */
import { CronJob, ConfigMap, Job, Secret, Service, StatefulSet } from "setpoint/resources";
import { defineController, ownerReferenceTo, withCondition } from "setpoint/runtime";
import type { NewCondition, Outcome, ReconcileContext } from "setpoint/runtime";
import { backupJob, childrenOf, CREDENTIALS_REVISION, nameOf } from "./children.ts";
import { PostgresCluster } from "./kind.ts";

/** 144 bits: too many to guess. */
const PASSWORD_BYTES = 18;

export const postgresOperator = defineController<PostgresCluster>({
  name: "postgres-operator",
  for: PostgresCluster,
  owns: [StatefulSet, Service, ConfigMap, Secret, CronJob],
  reads: [Job],
  finalizer: "example.com/last-backup",
  reconcile,
  finalize,
});

async function reconcile(cluster: PostgresCluster, context: ReconcileContext): Promise<Outcome> {
  await context.children(childrenOf(cluster, { password: passwordOf(cluster, context) }));
  await context.updateStatus(cluster, statusOf(cluster, context));
}

/** The password stays until a new one is asked for. */
function passwordOf({ metadata, spec }: PostgresCluster, { cache, random }: ReconcileContext): string {
  const known = cache(Secret).find({ namespace: metadata.namespace, name: `${metadata.name}-credentials` });
  const revision = known?.metadata.annotations?.[CREDENTIALS_REVISION];
  const password = known?.data?.["password"];
  if (password !== undefined && revision === String(spec.credentialsRevision)) {
    return Buffer.from(password, "base64").toString();
  }
  return Buffer.from(random.bytes(PASSWORD_BYTES)).toString("base64url");
}

function statusOf(
  cluster: PostgresCluster,
  { cache, clock }: ReconcileContext,
): NonNullable<PostgresCluster["status"]> {
  const { metadata, spec, status } = cluster;
  const place = { namespace: metadata.namespace };
  const set = cache(StatefulSet).find({ ...place, name: nameOf(cluster) });
  const ready = set?.status.readyReplicas ?? 0;
  const lastBackup = cache(CronJob).find({ ...place, name: `${nameOf(cluster)}-backup` })?.status
    .lastSuccessfulTime;
  const isReady = ready >= spec.instances;
  const condition: NewCondition = {
    type: "Ready",
    status: isReady ? "True" : "False",
    reason: isReady ? "AllInstancesReady" : "InstancesMissing",
    message: `${String(ready)} of ${String(spec.instances)} instances are ready`,
  };
  const moment = { now: clock.now(), observedGeneration: metadata.generation };
  return {
    instances: set?.status.replicas ?? 0,
    ready,
    conditions: withCondition(status?.conditions, condition, moment),
    ...(lastBackup !== undefined && { lastBackup }),
  };
}

/** Done when the last backup is, or when there is nothing to back up. */
async function finalize(
  cluster: PostgresCluster,
  { cache, client, event }: ReconcileContext,
): Promise<Outcome> {
  if (cluster.spec.backup === undefined) return;
  const { namespace } = cluster.metadata;
  const name = `${nameOf(cluster)}-last-backup`;
  const job = cache(Job).find({ namespace, name });
  if (job === undefined) {
    const metadata = {
      name,
      namespace,
      ownerReferences: [{ ...ownerReferenceTo(cluster), controller: false }],
    };
    await client(Job).create({ metadata, spec: backupJob(cluster) });
    event(cluster, { type: "Normal", reason: "LastBackup", message: "the last backup was started" });
  }
  const isComplete = (job?.status.conditions ?? []).some(
    ({ type, status }) => type === "Complete" && status === "True",
  );
  return isComplete ? undefined : { recheckAfterMs: RECHECK_MS, timer: "periodic" };
}

/** How often a Job is looked at whose end must not be missed. */
const RECHECK_MS = 10_000;
