/** Defaults of a pod's spec: defaults shared with templates, and defaults of pods only. */

import type {
  Container,
  Pod,
  PodSpec,
  PodTemplateSpec,
  ResourceRequirements,
} from "../../api/generated/types/core-v1.ts";
import type { Draft } from "../rules/kind-rules.ts";
import { ownValue } from "../rules/value-rules.ts";
import { containerDefaults } from "./container/container-defaults.ts";
import { aggregateRequests } from "./pod-resources.ts";
import { volumeDefaults } from "./volume/volume-defaults.ts";

export function podDefaults(pod: Draft<Pod>): void {
  podSpecDefaults(pod.spec);
  // Templates keep a negative period; their pods get one second.
  if ((pod.spec.terminationGracePeriodSeconds ?? 0) < 0) pod.spec.terminationGracePeriodSeconds = 1;
  pod.spec.enableServiceLinks ??= true;
  for (const container of [...pod.spec.containers, ...(pod.spec.initContainers ?? [])]) {
    requestDefaults(container.resources);
    if (pod.spec.hostNetwork === true) hostPortDefaults(container);
  }
  podRequestDefaults(pod.spec);
}

/** Templates omit defaults that depend on the pod: requests, host ports, service links. */
export function podTemplateDefaults(template: Draft<PodTemplateSpec>): void {
  podSpecDefaults(template.spec);
}

function podSpecDefaults(spec: Draft<PodSpec>): void {
  spec.dnsPolicy ??= "ClusterFirst";
  spec.restartPolicy ??= "Always";
  spec.securityContext ??= {};
  spec.terminationGracePeriodSeconds ??= 30;
  spec.schedulerName ??= "default-scheduler";
  serviceAccountDefaults(spec);
  for (const volume of spec.volumes ?? []) volumeDefaults(volume);
  const all = [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])];
  for (const container of all) containerDefaults(container);
}

/** `serviceAccount` is the deprecated name. Both fields are always set, and the new one wins. */
function serviceAccountDefaults(spec: Draft<PodSpec>): void {
  const name = spec.serviceAccountName ?? spec.serviceAccount;
  if (name === undefined) return;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
}

/** The limit of a resource is its default request. */
function requestDefaults(resources: Draft<ResourceRequirements>): void {
  if (resources.limits === undefined) return;
  resources.requests = { ...resources.limits, ...resources.requests };
}

function hostPortDefaults(container: Draft<Container>): void {
  for (const port of container.ports ?? []) port.hostPort ??= port.containerPort;
}

/** The default request of a pod with limits is the sum of its containers' requests, or else its limit. */
function podRequestDefaults(spec: Draft<PodSpec>): void {
  const { resources } = spec;
  if (resources?.limits === undefined) return;
  const together = aggregateRequests(spec);
  const missing = Object.entries(resources.limits).map(
    ([name, limit]) => [name, ownValue(together, name) ?? limit] as const,
  );
  resources.requests = { ...Object.fromEntries(missing), ...resources.requests };
}
