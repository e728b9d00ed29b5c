/** Finds the pod template in the kinds that create pods. */
import type {
  DaemonSet,
  Deployment,
  ReplicaSet,
  StatefulSet,
} from "../../../../../api/generated/types/apps-v1.ts";
import type { CronJob, Job } from "../../../../../api/generated/types/batch-v1.ts";
import type { PodTemplate, ReplicationController } from "../../../../../api/generated/types/core-v1.ts";
import type { PodLike } from "./check.ts";

export type PodMaker =
  | CronJob
  | DaemonSet
  | Deployment
  | Job
  | PodTemplate
  | ReplicaSet
  | ReplicationController
  | StatefulSet;

export const POD_MAKERS: readonly string[] = [
  "cronjobs.batch",
  "daemonsets.apps",
  "deployments.apps",
  "jobs.batch",
  "podtemplates",
  "replicasets.apps",
  "replicationcontrollers",
  "statefulsets.apps",
];

export function templateOf(maker: PodMaker): PodLike | undefined {
  if (maker.kind === "PodTemplate") return maker.template;
  return maker.kind === "CronJob" ? maker.spec.jobTemplate.spec.template : maker.spec.template;
}
