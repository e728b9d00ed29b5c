/** Rules of `pods/resize`: changes cpu and memory of a running pod, at pod level and in its containers. */

import { type FieldErrors, type FieldPath, fieldPath } from "../../api/errors/field-error.ts";
import type { Container, Pod, PodSpec, ResourceRequirements } from "../../api/generated/types/core-v1.ts";
import { draftCopy } from "../rules/draft-copy.ts";
import type { Draft } from "../rules/kind-rules.ts";
import type { ResourceList } from "../rules/resource-amount.ts";
import { isSame, ownValue } from "../rules/value-rules.ts";
import { isSidecar, qosClass } from "./pod-resources.ts";
import { isMirror } from "./pod-subresources.ts";

const SPEC = fieldPath("spec");
const RESIZABLE = ["cpu", "memory"];
const LISTS = ["containers", "initContainers"] as const;

/** Copies resources and resize policies from the request, and ignores all other fields. */
export function prepareResize(draft: Draft<Pod>, previous: Pod): void {
  const sent = draft.spec;
  draft.spec = draftCopy(previous.spec);
  if (sent.resources === undefined) delete draft.spec.resources;
  else draft.spec.resources = sent.resources;
  for (const list of LISTS) {
    const containers = sent[list] ?? [];
    // Validation refuses containers that were renamed or reordered.
    if (isSame(namesOf(containers), namesOf(previous.spec[list] ?? []))) {
      for (const [i, container] of (draft.spec[list] ?? []).entries()) takeOver(container, containers[i]);
    } else {
      draft.spec[list] = containers;
    }
  }
}

function takeOver(container: Draft<Container>, sent: Draft<Container> | undefined): void {
  if (sent === undefined) return;
  container.resources = sent.resources;
  if (sent.resizePolicy !== undefined) container.resizePolicy = sent.resizePolicy;
}

/**
 * Only cpu and memory may change, and the QoS class must stay the same. Validation of the pod runs before.
 */
export function checkResize(next: Pod, previous: Pod, errors: FieldErrors): void {
  const refusal = resizeRefusal(previous);
  if (refusal !== undefined) return errors.forbidden(fieldPath(), refusal);
  if ((previous.status.qosClass ?? qosClass(previous.spec)) !== qosClass(next.spec)) {
    errors.invalid(SPEC, next.status.qosClass ?? "", "Pod QOS Class may not change as a result of resizing");
  }
  checkPodLevel(next.spec, previous.spec, errors);
  const found = errors.count;
  for (const list of LISTS) checkOrder(next.spec, { previous: previous.spec, list }, errors);
  if (errors.count > found) return;
  for (const [container, before, i] of pairs(next.spec, previous.spec, "containers")) {
    checkKept(
      container.resources,
      { previous: before.resources, path: resourcesOf("containers", i) },
      errors,
    );
    if (!isResizeOnly(container, before)) errors.forbidden(SPEC, "only cpu and memory resources are mutable");
  }
  for (const [container, before, i] of pairs(next.spec, previous.spec, "initContainers")) {
    checkKept(
      container.resources,
      { previous: before.resources, path: resourcesOf("initContainers", i) },
      errors,
    );
    checkInitContainer(container, { previous: before, path: SPEC.child("initContainers").index(i) }, errors);
  }
}

function resizeRefusal(pod: Pod): string | undefined {
  if (isMirror(pod)) return "static pods cannot be resized";
  return pod.spec.os?.name === "windows" ? "windows pods cannot be resized" : undefined;
}

function checkPodLevel(
  { resources: next }: PodSpec,
  { resources: previous }: PodSpec,
  errors: FieldErrors,
): void {
  const path = SPEC.child("resources");
  if (next === undefined) {
    if (previous !== undefined) errors.forbidden(path, "pod-level resources cannot be removed");
    return;
  }
  for (const list of ["requests", "limits"] as const) {
    if (isRemoved(next[list], previous?.[list])) {
      errors.forbidden(path.child(list), `pod-level resource ${list} cannot be removed`);
    }
  }
  if (!isSame(otherResources(next), otherResources(previous ?? {}))) {
    errors.forbidden(SPEC, "only cpu and memory resources are mutable at pod-level");
  }
}

type List = (typeof LISTS)[number];

function checkOrder(
  next: PodSpec,
  { previous, list }: { readonly previous: PodSpec; readonly list: List },
  errors: FieldErrors,
): void {
  const names = namesOf(next[list] ?? []);
  const before = namesOf(previous[list] ?? []);
  if (names.length !== before.length) {
    errors.forbidden(SPEC.child(list), `${list} may not be added or removed on resize`);
    return;
  }
  for (const [i, name] of before.entries()) {
    if (names[i] === name) continue;
    const at = SPEC.child(list).index(i).child("name");
    errors.forbidden(at, `${list} may not be renamed or reordered on resize`);
  }
}

function namesOf(containers: readonly Container[]): readonly string[] {
  return containers.map(({ name }) => name);
}

/** Pairs of a container and its previous version; the lists are equally long. */
function pairs(
  next: PodSpec,
  previous: PodSpec,
  list: List,
): readonly (readonly [Container, Container, number])[] {
  const before = previous[list] ?? [];
  return (next[list] ?? []).map((container, i) => [container, before[i] ?? container, i] as const);
}

function resourcesOf(list: List, i: number): FieldPath {
  return SPEC.child(list).index(i).child("resources");
}

function checkKept(
  next: ResourceRequirements,
  { previous, path }: { readonly previous: ResourceRequirements; readonly path: FieldPath },
  errors: FieldErrors,
): void {
  for (const list of ["requests", "limits"] as const) {
    if (isRemoved(next[list], previous[list])) {
      errors.forbidden(path.child(list), `resource ${list} cannot be removed`);
    }
  }
}

function isRemoved(next: ResourceList | undefined, previous: ResourceList | undefined): boolean {
  return Object.keys(previous ?? {}).some((name) => ownValue(next, name) === undefined);
}

/** A container that runs only once cannot restart for a resize. */
function checkInitContainer(
  next: Container,
  { previous, path }: { readonly previous: Container; readonly path: FieldPath },
  errors: FieldErrors,
): void {
  if (!isResizeOnly(next, previous)) {
    errors.forbidden(path, "only cpu and memory resources for init or sidecar containers are mutable");
  }
  const restarts = (next.resizePolicy ?? []).some(
    ({ restartPolicy }) => restartPolicy === "RestartContainer",
  );
  if (isSidecar(next) || !restarts || isSame(next, previous)) return;
  const detail = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized";
  errors.forbidden(path, detail);
}

/** True when only cpu, memory and resize policies differ. */
function isResizeOnly(next: Container, previous: Container): boolean {
  return isSame(withoutResized(next), withoutResized(previous));
}

function withoutResized(container: Container): unknown {
  const draft = draftCopy(container);
  delete draft.resizePolicy;
  draft.resources = otherResources(container.resources);
  return draft;
}

function otherResources({ requests, limits, claims }: ResourceRequirements): Draft<ResourceRequirements> {
  const others = (list: ResourceList | undefined): Record<string, string> =>
    Object.fromEntries(Object.entries(list ?? {}).filter(([name]) => !RESIZABLE.includes(name)));
  return { requests: others(requests), limits: others(limits), claims: [...(claims ?? [])] };
}
