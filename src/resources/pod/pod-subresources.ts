/** The rules of `pods/ephemeralcontainers`, `pods/resize` and `pods/binding`. */

import { type FieldErrors, type FieldPath, fieldPath } from "../../api/field-error.ts";
import type {
  Binding,
  Container,
  Pod,
  PodCondition,
  ResourceRequirements,
} from "../../api/generated/types/core-v1.ts";
import { quoted } from "../../api/message-text.ts";
import { formatTime } from "../../api/time.ts";
import { draftCopy } from "../draft-copy.ts";
import type { Draft, RuleContext } from "../kind-rules.ts";
import { checkChoice, isSame, ownValue } from "../value-rules.ts";
import { isSidecar, qosClass, type ResourceList } from "./pod-resources.ts";
import { specDiff } from "./spec-diff.ts";

const MIRROR_ANNOTATION = "kubernetes.io/config.mirror";
const RESIZABLE = ["cpu", "memory"];

/** Takes over the ephemeral containers of what was sent, and nothing else. */
export function prepareEphemeralContainers(draft: Draft<Pod>, previous: Pod): void {
  const { ephemeralContainers } = draft.spec;
  draft.spec = draftCopy(previous.spec);
  if (ephemeralContainers === undefined) delete draft.spec.ephemeralContainers;
  else draft.spec.ephemeralContainers = ephemeralContainers;
}

/** Ephemeral containers are added, never changed and never taken away. The pod itself is checked before. */
export function checkEphemeralContainersUpdate(next: Pod, previous: Pod, errors: FieldErrors): void {
  if (isMirror(previous)) {
    return errors.forbidden(fieldPath(), "static pods do not support ephemeral containers");
  }
  const path = fieldPath("spec", "ephemeralContainers");
  for (const container of previous.spec.ephemeralContainers ?? []) {
    const name = quoted(container.name);
    const now = (next.spec.ephemeralContainers ?? []).find((each) => each.name === container.name);
    if (now === undefined) {
      errors.forbidden(path, `existing ephemeral containers ${name} may not be removed\n`);
    } else if (!isSame(now, container)) {
      const diff = specDiff("core.EphemeralContainer", container, now);
      errors.forbidden(path, `existing ephemeral containers ${name} may not be changed\n${diff}`);
    }
  }
}

/** Takes over resources and resize policies of what was sent, and nothing else. */
export function prepareResize(draft: Draft<Pod>, previous: Pod): void {
  const sent = draft.spec;
  draft.spec = draftCopy(previous.spec);
  for (const list of ["containers", "initContainers"] as const) {
    for (const container of draft.spec[list] ?? []) {
      const from = (sent[list] ?? []).find(({ name }) => name === container.name);
      if (from === undefined) continue;
      container.resources = from.resources;
      if (from.resizePolicy !== undefined) container.resizePolicy = from.resizePolicy;
    }
  }
}

/** Only cpu and memory change, and the class of service stays what it was. The pod itself is checked before. */
export function checkResize(next: Pod, previous: Pod, errors: FieldErrors): void {
  const refusal = resizeRefusal(previous);
  if (refusal !== undefined) return errors.forbidden(fieldPath(), refusal);
  const path = fieldPath("spec");
  if ((previous.status.qosClass ?? qosClass(previous.spec)) !== qosClass(next.spec)) {
    errors.invalid(path, next.status.qosClass ?? "", "Pod QOS Class may not change as a result of resizing");
  }
  for (const [i, container] of previous.spec.containers.entries()) {
    const now = next.spec.containers[i];
    if (now === undefined) continue;
    checkContainerResize(now, { previous: container, path: path.child("containers").index(i) }, errors);
    if (!isResizeOnly(now, container)) errors.forbidden(path, "only cpu and memory resources are mutable");
  }
  for (const [i, container] of (previous.spec.initContainers ?? []).entries()) {
    const now = next.spec.initContainers?.[i];
    if (now === undefined) continue;
    checkInitResize(now, { previous: container, path: path.child("initContainers").index(i) }, errors);
  }
}

function resizeRefusal(pod: Pod): string | undefined {
  const { requests, limits } = pod.spec.resources ?? {};
  if (requests !== undefined || limits !== undefined)
    return "pods with pod-level resources cannot be resized";
  if (isMirror(pod)) return "static pods cannot be resized";
  return pod.spec.os?.name === "windows" ? "windows pods cannot be resized" : undefined;
}

interface ResizePlace {
  readonly previous: Container;
  readonly path: FieldPath;
}

function checkInitResize(next: Container, { previous, path }: ResizePlace, errors: FieldErrors): void {
  const spec = fieldPath("spec");
  if (!isSidecar(previous)) {
    if (!isSame(next, previous))
      errors.forbidden(spec, "resources for non-sidecar init containers are immutable");
    return;
  }
  checkContainerResize(next, { previous, path }, errors);
  if (!isResizeOnly(next, previous)) {
    errors.forbidden(spec, "only cpu and memory resources for sidecar containers are mutable");
  }
}

function checkContainerResize(next: Container, { previous, path }: ResizePlace, errors: FieldErrors): void {
  const at = path.child("resources");
  for (const list of ["requests", "limits"] as const) {
    const now = next.resources[list];
    const isRemoved = Object.keys(previous.resources[list] ?? {}).some(
      (name) => ownValue(now, name) === undefined,
    );
    if (isRemoved) errors.forbidden(at.child(list), `resource ${list} cannot be removed`);
  }
}

/** Apart from cpu and memory, and the policies that go with them, the two are equal. */
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

function isMirror({ metadata }: Pod): boolean {
  return ownValue(metadata.annotations, MIRROR_ANNOTATION) !== undefined;
}

export function checkBinding({ target }: Binding, errors: FieldErrors): void {
  const kind = target.kind ?? "";
  if (kind !== "") {
    checkChoice({ path: fieldPath("target", "kind"), value: kind, among: ["Node", "<empty>"] }, errors);
  }
  if ((target.name ?? "") === "") errors.required(fieldPath("target", "name"));
}

/** Why the pod cannot be bound now, as a conflict; undefined when it can. */
export function bindingConflict({ metadata, spec }: Pod): string | undefined {
  const { name } = metadata;
  if (metadata.deletionTimestamp !== undefined)
    return `pod ${name} is being deleted, cannot be assigned to a host`;
  if (spec.nodeName !== undefined) return `pod ${name} is already assigned to node ${quoted(spec.nodeName)}`;
  const isGated = (spec.schedulingGates ?? []).length > 0;
  return isGated ? `pod ${name} has non-empty .spec.schedulingGates` : undefined;
}

/** Puts the pod on the node. Annotations of the binding become the pod's. */
export function bindPod(draft: Draft<Pod>, binding: Binding, { now }: RuleContext): void {
  draft.spec.nodeName = binding.target.name ?? "";
  const { annotations, labels } = binding.metadata;
  if (annotations !== undefined)
    draft.metadata.annotations = { ...draft.metadata.annotations, ...annotations };
  if (labels !== undefined) draft.metadata.labels = { ...draft.metadata.labels, ...labels };
  delete draft.status.nominatedNodeName;
  const others = (draft.status.conditions ?? []).filter(({ type }) => type !== "PodScheduled");
  const scheduled: Draft<PodCondition> = {
    type: "PodScheduled",
    status: "True",
    lastTransitionTime: formatTime(BigInt(now) * 1000n),
  };
  draft.status.conditions = [...others, scheduled];
}
