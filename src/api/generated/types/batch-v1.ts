// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { ObjectReference, PodTemplateSpec } from "./core-v1.ts";
import type { LabelSelector, ListMeta, ObjectMeta, StoredMeta } from "./meta-v1.ts";

export type CronJob = {
  readonly apiVersion: "batch/v1";
  readonly kind: "CronJob";
  readonly metadata: StoredMeta;
  readonly spec: CronJobSpec;
  readonly status: CronJobStatus;
};
export const CronJob: ResourceType<CronJob> = {
  apiVersion: "batch/v1",
  kind: "CronJob",
  plural: "cronjobs",
  namespaced: true,
};

export type CronJobList = {
  readonly apiVersion: "batch/v1";
  readonly items: readonly CronJob[];
  readonly kind: "CronJobList";
  readonly metadata: ListMeta;
};

export type CronJobSpec = {
  readonly concurrencyPolicy?: "Allow" | "Forbid" | "Replace";
  readonly failedJobsHistoryLimit?: number;
  readonly jobTemplate: JobTemplateSpec;
  readonly schedule: string;
  readonly startingDeadlineSeconds?: number;
  readonly successfulJobsHistoryLimit?: number;
  readonly suspend?: boolean;
  readonly timeZone?: string;
};

export type CronJobStatus = {
  readonly active?: readonly ObjectReference[];
  readonly lastScheduleTime?: string;
  readonly lastSuccessfulTime?: string;
};

export type Job = {
  readonly apiVersion: "batch/v1";
  readonly kind: "Job";
  readonly metadata: StoredMeta;
  readonly spec: JobSpec;
  readonly status: JobStatus;
};
export const Job: ResourceType<Job> = {
  apiVersion: "batch/v1",
  kind: "Job",
  plural: "jobs",
  namespaced: true,
};

export type JobCondition = {
  readonly lastProbeTime?: string;
  readonly lastTransitionTime?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
};

export type JobList = {
  readonly apiVersion: "batch/v1";
  readonly items: readonly Job[];
  readonly kind: "JobList";
  readonly metadata: ListMeta;
};

export type JobSpec = {
  readonly activeDeadlineSeconds?: number;
  readonly backoffLimit?: number;
  readonly backoffLimitPerIndex?: number;
  readonly completionMode?: "Indexed" | "NonIndexed";
  readonly completions?: number;
  readonly managedBy?: string;
  readonly manualSelector?: boolean;
  readonly maxFailedIndexes?: number;
  readonly parallelism?: number;
  readonly podFailurePolicy?: PodFailurePolicy;
  readonly podReplacementPolicy?: "Failed" | "TerminatingOrFailed";
  readonly selector?: LabelSelector;
  readonly successPolicy?: SuccessPolicy;
  readonly suspend?: boolean;
  readonly template: PodTemplateSpec;
  readonly ttlSecondsAfterFinished?: number;
};

export type JobStatus = {
  readonly active?: number;
  readonly completedIndexes?: string;
  readonly completionTime?: string;
  readonly conditions?: readonly JobCondition[];
  readonly failed?: number;
  readonly failedIndexes?: string;
  readonly ready?: number;
  readonly startTime?: string;
  readonly succeeded?: number;
  readonly terminating?: number;
  readonly uncountedTerminatedPods?: UncountedTerminatedPods;
};

export type JobTemplateSpec = {
  readonly metadata: ObjectMeta;
  readonly spec: JobSpec;
};

export type PodFailurePolicy = {
  readonly rules: readonly PodFailurePolicyRule[];
};

export type PodFailurePolicyOnExitCodesRequirement = {
  readonly containerName?: string;
  readonly operator: "In" | "NotIn";
  readonly values: readonly number[];
};

export type PodFailurePolicyOnPodConditionsPattern = {
  readonly status: string;
  readonly type: string;
};

export type PodFailurePolicyRule = {
  readonly action: "Count" | "FailIndex" | "FailJob" | "Ignore";
  readonly onExitCodes?: PodFailurePolicyOnExitCodesRequirement;
  readonly onPodConditions?: readonly PodFailurePolicyOnPodConditionsPattern[];
};

export type SuccessPolicy = {
  readonly rules: readonly SuccessPolicyRule[];
};

export type SuccessPolicyRule = {
  readonly succeededCount?: number;
  readonly succeededIndexes?: string;
};

export type UncountedTerminatedPods = {
  readonly failed?: readonly string[];
  readonly succeeded?: readonly string[];
};
