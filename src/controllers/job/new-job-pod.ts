/** Builds a pod of a Job: the template plus the tracking finalizer and, for indexed Jobs, the index. */
import type { Manifest } from "../../api/api-object.ts";
import type { Job } from "../../api/generated/types/batch-v1.ts";
import type { Container, Pod, PodTemplateSpec } from "../../api/generated/types/core-v1.ts";
import { podFromTemplate } from "../pods/pod-from-template.ts";
import { failureActionOf } from "./failure-policy.ts";
import {
  COMPLETION_INDEX,
  failuresBefore,
  hasLimitPerIndex,
  INDEX_FAILURES,
  INDEX_IGNORED_FAILURES,
  TRACKING,
} from "./job-pods.ts";

const INDEX_VARIABLE = "JOB_COMPLETION_INDEX";
/** Longest prefix that leaves room for the suffix of a generated name. */
const GENERATE_NAME_MAX = 58;

export interface NewPod {
  readonly index: number | undefined;
  /** Failed pod of the same index. */
  readonly replaces: Pod | undefined;
}

export function newPod(job: Job, { index, replaces }: NewPod): Manifest<Pod> {
  const { template } = job.spec;
  const finalizers = [...(template.metadata.finalizers ?? []).filter((each) => each !== TRACKING), TRACKING];
  const tracked = { ...template, metadata: { ...template.metadata, finalizers } };
  if (index === undefined) return podFromTemplate(job, tracked);
  const pod = podFromTemplate(job, indexedTemplate(job, tracked, { index, replaces }));
  return { ...pod, metadata: { ...pod.metadata, generateName: indexedPrefix(job.metadata.name, index) } };
}

function indexedTemplate(
  job: Job,
  { metadata, spec }: PodTemplateSpec,
  { index, replaces }: { readonly index: number; readonly replaces: Pod | undefined },
): PodTemplateSpec {
  const text = String(index);
  const { initContainers } = spec;
  return {
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, [COMPLETION_INDEX]: text },
      annotations: {
        ...metadata.annotations,
        [COMPLETION_INDEX]: text,
        ...(hasLimitPerIndex(job) && failureCounts(job, replaces)),
      },
    },
    spec: {
      ...spec,
      hostname: `${job.metadata.name}-${text}`,
      ...(initContainers !== undefined && { initContainers: initContainers.map(withIndexVariable) }),
      containers: spec.containers.map(withIndexVariable),
    },
  };
}

/** An existing variable of that name in the template stays. */
function withIndexVariable(container: Container): Container {
  const { env = [] } = container;
  if (env.some(({ name }) => name === INDEX_VARIABLE)) return container;
  const fieldRef = { fieldPath: `metadata.labels['${COMPLETION_INDEX}']` };
  return { ...container, env: [...env, { name: INDEX_VARIABLE, valueFrom: { fieldRef } }] };
}

/** Failures of the index so far, including the replaced pod's. */
function failureCounts(job: Job, replaces: Pod | undefined): Readonly<Record<string, string>> {
  if (replaces === undefined) return { [INDEX_FAILURES]: "0" };
  const { counted, ignored } = failuresBefore(replaces);
  const isIgnored = failureActionOf(job, replaces).action === "Ignore";
  const ignoredNow = ignored + (isIgnored ? 1 : 0);
  return {
    [INDEX_FAILURES]: String(counted + (isIgnored ? 0 : 1)),
    ...(ignoredNow > 0 && { [INDEX_IGNORED_FAILURES]: String(ignoredNow) }),
  };
}

function indexedPrefix(jobName: string, index: number): string {
  const end = `-${String(index)}-`;
  return `${jobName.slice(0, GENERATE_NAME_MAX - end.length)}${end}`;
}
