/** Defaults of a pod's spec: those every template has too, and those that only a pod itself gets. */

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
  // A template keeps what it says; its pods do not.
  if ((pod.spec.terminationGracePeriodSeconds ?? 0) < 0) pod.spec.terminationGracePeriodSeconds = 1;
  pod.spec.enableServiceLinks ??= true;
  for (const container of [...pod.spec.containers, ...(pod.spec.initContainers ?? [])]) {
    requestDefaults(container.resources);
    if (pod.spec.hostNetwork === true) hostPortDefaults(container);
  }
  podRequestDefaults(pod.spec);
}

/** Templates leave to the pod what depends on how it will run: requests, host ports, service links. */
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

/** `serviceAccount` is the old name of the field; both are always shown, and the new one wins. */
function serviceAccountDefaults(spec: Draft<PodSpec>): void {
  const name = spec.serviceAccountName ?? spec.serviceAccount;
  if (name === undefined) return;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
}

/** Who limits a resource without asking for an amount asks for that much. */
function requestDefaults(resources: Draft<ResourceRequirements>): void {
  if (resources.limits === undefined) return;
  resources.requests = { ...resources.limits, ...resources.requests };
}

function hostPortDefaults(container: Draft<Container>): void {
  for (const port of container.ports ?? []) port.hostPort ??= port.containerPort;
}

/** A pod with limits of its own asks for what its containers ask together, else for its limit. */
function podRequestDefaults(spec: Draft<PodSpec>): void {
  const { resources } = spec;
  if (resources?.limits === undefined) return;
  const together = aggregateRequests(spec);
  const missing = Object.entries(resources.limits).map(
    ([name, limit]) => [name, ownValue(together, name) ?? limit] as const,
  );
  resources.requests = { ...Object.fromEntries(missing), ...resources.requests };
}
