/** A small operator of backups: what backup.yaml installs. */
import type { ApiObject } from "../../../src/api/api-object.ts";
import { CronJob } from "../../../src/api/generated/types/batch-v1.ts";
import { ConfigMap } from "../../../src/api/generated/types/core-v1.ts";
import type { Condition } from "../../../src/api/generated/types/meta-v1.ts";
import { resourceType } from "../../../src/client/resource-type.ts";
import type { ChildManifest } from "../../../src/runtime/controller/child.ts";
import { withCondition } from "../../../src/runtime/controller/conditions.ts";
import { defineController } from "../../../src/runtime/controller/controller.ts";

interface BackupPlan extends ApiObject {
  readonly spec: {
    readonly schedule: string;
    readonly suspend: boolean;
    readonly targets?: readonly object[];
  };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

const BackupPlan = resourceType<BackupPlan>({
  apiVersion: "backup.example.net/v1",
  kind: "BackupPlan",
  plural: "backupplans",
  namespaced: true,
});

export const backupPlans = defineController<BackupPlan>({
  name: "nightly-backup",
  for: BackupPlan,
  owns: [CronJob, ConfigMap],
  async reconcile(plan, context) {
    await context.children([targetsOf(plan), jobsOf(plan)]);
    const condition = { type: "Scheduled", status: "True", reason: "JobsMade" } as const;
    const moment = { now: context.clock.now(), observedGeneration: plan.metadata.generation };
    await context.updateStatus(plan, {
      conditions: withCondition(plan.status?.conditions, condition, moment),
    });
    context.event(plan, { type: "Normal", reason: "Scheduled", message: `runs ${plan.spec.schedule}` });
  },
});

function targetsOf({ metadata: { name = "" }, spec: { targets = [] } }: BackupPlan): ChildManifest {
  const metadata = { name: `${name}-targets` };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data: { "targets.json": JSON.stringify(targets) } };
}

function jobsOf({ metadata: { name = "" }, spec: { schedule, suspend } }: BackupPlan): ChildManifest {
  const container = { name: "backup", image: "registry.example.net/backup/tools:2.7.0" };
  const template = { spec: { restartPolicy: "OnFailure", containers: [container] } };
  return {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name },
    spec: { schedule, suspend, jobTemplate: { spec: { template } } },
  };
}
