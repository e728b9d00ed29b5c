/** Validates the spec of a pod or a template. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import type {
  Container,
  PodResourceClaim,
  PodSpec,
  PodTemplateSpec,
  Volume,
} from "../../api/generated/types/core-v1.ts";
import { validateLabels } from "../../api/selectors/label-selector.ts";
import { dns1123Label, dns1123Subdomain, qualifiedName } from "../../api/values/names.ts";
import { checkContainerResourceName } from "../rules/resource-name.ts";
import { addNew, checkQualifiedName, checkRequiredChoice, firstByText } from "../rules/value-rules.ts";
import { checkAffinity } from "./affinity-rules.ts";
import {
  checkContainers,
  checkEphemeralContainers,
  checkInitContainers,
} from "./container/container-rules.ts";
import { containersOf } from "./container/containers-of.ts";
import { checkAmount, checkPodResources } from "./container/resource-rules.ts";
import { checkDns, checkHostAliases, checkHostname } from "./dns-rules.ts";
import { checkPodAnnotations } from "./pod-annotation-rules.ts";
import type { PodScope } from "./pod-scope.ts";
import { checkPodSecurity } from "./pod-security-rules.ts";
import { checkSpread } from "./spread-rules.ts";
import { checkTolerations } from "./toleration-rules.ts";
import { checkVolumes } from "./volume/volume-rules.ts";

const RESTART_POLICIES = ["Always", "OnFailure", "Never"];
const PREEMPTION_POLICIES = ["PreemptLowerPriority", "Never"];
const INT32_MAX = 2 ** 31 - 1;

export interface PodSpecPlace {
  readonly path: FieldPath;
  readonly subject: PodScope["subject"];
  readonly podName?: string | undefined;
  /** Volumes besides those in the spec: the claims of a StatefulSet. */
  readonly addedVolumes?: readonly Volume[];
}

export function checkPodSpec(spec: PodSpec, place: PodSpecPlace, errors: FieldErrors): void {
  const { path } = place;
  const scope = podScope(spec, place, errors);
  if (spec.terminationGracePeriodSeconds === undefined)
    errors.required(path.child("terminationGracePeriodSeconds"));
  checkVolumes(spec.volumes ?? [], path.child("volumes"), scope);
  checkResourceClaims(spec.resourceClaims ?? [], path.child("resourceClaims"), errors);
  checkContainers(path.child("containers"), scope);
  checkInitContainers(path.child("initContainers"), scope);
  checkEphemeralContainers(path.child("ephemeralContainers"), scope);
  checkPodResources(spec, path.child("resources"), errors);
  checkHostPorts(path.child("containers"), scope);
  const restart = path.child("restartPolicy");
  checkRequiredChoice({ path: restart, value: spec.restartPolicy, among: RESTART_POLICIES }, errors);
  checkDns(spec, path, errors);
  checkPodSecurity(spec, path, errors);
  checkPlacement(spec, path, errors);
  checkGates(spec, path, errors);
  checkNames(spec, path, errors);
  checkHostname(spec, path, errors);
  checkHostAliases(spec.hostAliases ?? [], path.child("hostAliases"), errors);
  checkDeadline(spec, path, errors);
  checkOverhead(spec, path.child("overhead"), errors);
  checkFileVolumes(spec, path, errors);
}

/** `fileKeyRef` may only refer to `emptyDir` volumes of the pod. */
function checkFileVolumes(spec: PodSpec, path: FieldPath, errors: FieldErrors): void {
  const { containers, initContainers, ephemeralContainers } = spec;
  if (![containers, initContainers, ephemeralContainers].some((list) => list?.some(readsFiles))) return;
  const volumes = firstByText(spec.volumes ?? [], ({ name }) => name);
  for (const { container, at } of containersOf(spec, path)) {
    for (const [i, { valueFrom }] of (container.env ?? []).entries()) {
      if (valueFrom?.fileKeyRef === undefined) continue;
      const { volumeName } = valueFrom.fileKeyRef;
      const field = at.child("env").index(i).child("valueFrom", "fileKeyRef", "volumeName");
      const volume = volumes.get(volumeName);
      if (volume === undefined) errors.notFound(field, volumeName);
      else if (volume.emptyDir === undefined)
        errors.invalid(field, volumeName, "referenced volume must be of type emptyDir");
    }
  }
}

function readsFiles({ env }: Pick<Container, "env">): boolean {
  return env?.some(({ valueFrom }) => valueFrom?.fileKeyRef !== undefined) ?? false;
}

/** Labels and annotations of a template become those of its pods. */
export function checkPodTemplate(
  template: PodTemplateSpec,
  place: Pick<PodSpecPlace, "path" | "addedVolumes">,
  errors: FieldErrors,
): void {
  const { path, addedVolumes = [] } = place;
  const { labels = {}, annotations = {} } = template.metadata;
  // Upstream's two paths lack `metadata`.
  validateLabels(labels, path.child("labels"), errors);
  for (const key of Object.keys(annotations)) {
    errors.invalidFor(path.child("annotations"), key, qualifiedName(key.toLowerCase()));
  }
  checkPodAnnotations(template, path.child("annotations"), errors);
  checkPodSpec(template.spec, { path: path.child("spec"), subject: "template", addedVolumes }, errors);
  if ((template.spec.ephemeralContainers ?? []).length === 0) return;
  const at = path.child("spec", "ephemeralContainers");
  errors.forbidden(at, "ephemeral containers not allowed in pod template");
}

function podScope(spec: PodSpec, place: PodSpecPlace, errors: FieldErrors): PodScope {
  const volumes = [...(place.addedVolumes ?? []), ...(spec.volumes ?? [])];
  return {
    errors,
    volumes: new Map(volumes.map((volume) => [volume.name, volume])),
    claimNames: new Set((spec.resourceClaims ?? []).map(({ name }) => name)),
    spec,
    subject: place.subject,
    podName: place.podName,
  };
}

function checkResourceClaims(
  claims: readonly PodResourceClaim[],
  path: FieldPath,
  errors: FieldErrors,
): void {
  const names = new Set<string>();
  for (const [i, claim] of claims.entries()) {
    const at = path.index(i);
    if (claim.name === "") errors.required(at.child("name"));
    else if (!addNew(names, claim.name)) errors.duplicate(at.child("name"), claim.name);
    else errors.invalidFor(at.child("name"), claim.name, dns1123Label(claim.name));
    checkClaimSource(claim, at, errors);
  }
}

function checkClaimSource(claim: PodResourceClaim, path: FieldPath, errors: FieldErrors): void {
  const { resourceClaimName, resourceClaimTemplateName } = claim;
  if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined) {
    const problem = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified";
    errors.invalid(path, claim, problem);
  }
  if (resourceClaimName === undefined && resourceClaimTemplateName === undefined) {
    errors.invalid(path, claim, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`");
  }
  for (const field of ["resourceClaimName", "resourceClaimTemplateName"] as const) {
    const name = claim[field];
    if (name !== undefined) errors.invalidFor(path.child(field), name, dns1123Subdomain(name));
  }
}

/** Host ports of a pod on the host network equal its container ports. A template may omit them. */
function checkHostPorts(path: FieldPath, { errors, spec, subject }: PodScope): void {
  if (spec.hostNetwork !== true) return;
  for (const [i, { ports = [] }] of spec.containers.entries()) {
    for (const [j, { hostPort, containerPort }] of ports.entries()) {
      if (hostPort === containerPort || (subject === "template" && hostPort === undefined)) continue;
      const at = path.index(i).child("ports").index(j).child("hostPort");
      errors.invalid(at, hostPort ?? 0, "must match `containerPort` when `hostNetwork` is true");
    }
  }
}

function checkPlacement(spec: PodSpec, path: FieldPath, errors: FieldErrors): void {
  validateLabels(spec.nodeSelector ?? {}, path.child("nodeSelector"), errors);
  if (spec.affinity !== undefined) checkAffinity(spec.affinity, path.child("affinity"), errors);
  checkSpread(spec.topologySpreadConstraints ?? [], path.child("topologySpreadConstraints"), errors);
  checkTolerations(spec.tolerations ?? [], path.child("tolerations"), errors);
  const at = path.child("preemptionPolicy");
  if (spec.preemptionPolicy !== undefined) {
    checkRequiredChoice({ path: at, value: spec.preemptionPolicy, among: PREEMPTION_POLICIES }, errors);
  }
}

function checkGates(spec: PodSpec, path: FieldPath, errors: FieldErrors): void {
  for (const [i, { conditionType }] of (spec.readinessGates ?? []).entries()) {
    checkQualifiedName(conditionType, path.child("readinessGates").index(i).child("conditionType"), errors);
  }
  const names = new Set<string>();
  for (const [i, { name }] of (spec.schedulingGates ?? []).entries()) {
    const at = path.child("schedulingGates").index(i);
    checkQualifiedName(name, at, errors);
    if (!addNew(names, name)) errors.duplicate(at, name);
  }
}

/** Validates names of other objects. */
function checkNames(spec: PodSpec, path: FieldPath, errors: FieldErrors): void {
  for (const field of ["serviceAccountName", "nodeName", "priorityClassName", "runtimeClassName"] as const) {
    const name = spec[field];
    if (name !== undefined) errors.invalidFor(path.child(field), name, dns1123Subdomain(name));
  }
}

function checkDeadline(
  { activeDeadlineSeconds: seconds }: PodSpec,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (seconds === undefined || (seconds >= 1 && seconds <= INT32_MAX)) return;
  errors.invalid(
    path.child("activeDeadlineSeconds"),
    seconds,
    `must be between 1 and ${INT32_MAX}, inclusive`,
  );
}

function checkOverhead({ overhead = {} }: PodSpec, path: FieldPath, errors: FieldErrors): void {
  for (const [name, amount] of Object.entries(overhead)) {
    const at = path.child("limits").key(name);
    checkContainerResourceName(name, at, errors);
    checkAmount({ name, amount }, at, errors);
  }
}
