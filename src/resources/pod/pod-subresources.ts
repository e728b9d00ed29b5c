/** Rules of `pods/ephemeralcontainers` and `pods/binding`. */

import { type FieldErrors, fieldPath } from "../../api/errors/field-error.ts";
import type { Binding, Pod, PodCondition } from "../../api/generated/types/core-v1.ts";
import { quoted } from "../../api/values/message-text.ts";
import { timeText } from "../../api/values/time.ts";
import { draftCopy } from "../rules/draft-copy.ts";
import type { Draft, RuleContext } from "../rules/kind-rules.ts";
import { checkChoice, firstByText, isSame, ownValue } from "../rules/value-rules.ts";
import { specDiff } from "./spec-diff.ts";

const MIRROR_ANNOTATION = "kubernetes.io/config.mirror";

/** Copies ephemeral containers from the request, and ignores all other fields. */
export function prepareEphemeralContainers(draft: Draft<Pod>, previous: Pod): void {
  const { ephemeralContainers } = draft.spec;
  draft.spec = draftCopy(previous.spec);
  if (ephemeralContainers === undefined) delete draft.spec.ephemeralContainers;
  else draft.spec.ephemeralContainers = ephemeralContainers;
}

/** Ephemeral containers can be added, but neither changed nor removed. Validation of the pod runs before. */
export function checkEphemeralContainersUpdate(next: Pod, previous: Pod, errors: FieldErrors): void {
  if (isMirror(previous)) {
    return errors.forbidden(fieldPath(), "static pods do not support ephemeral containers");
  }
  const path = fieldPath("spec", "ephemeralContainers");
  const present = firstByText(next.spec.ephemeralContainers ?? [], ({ name }) => name);
  for (const container of previous.spec.ephemeralContainers ?? []) {
    const name = quoted(container.name);
    const now = present.get(container.name);
    if (now === undefined) {
      errors.forbidden(path, `existing ephemeral containers ${name} may not be removed\n`);
    } else if (!isSame(now, container)) {
      const diff = specDiff("core.EphemeralContainer", container, now);
      errors.forbidden(path, `existing ephemeral containers ${name} may not be changed\n${diff}`);
    }
  }
}

/** A mirror pod: an agent runs the pod from a file and mirrors it in the API. */
export function isMirror({ metadata }: Pod): boolean {
  return ownValue(metadata.annotations, MIRROR_ANNOTATION) !== undefined;
}

export function checkBinding({ target }: Binding, errors: FieldErrors): void {
  const kind = target.kind ?? "";
  if (kind !== "") {
    checkChoice({ path: fieldPath("target", "kind"), value: kind, among: ["Node", "<empty>"] }, errors);
  }
  if ((target.name ?? "") === "") errors.required(fieldPath("target", "name"));
}

/** Why the pod cannot be bound now, as the text of a conflict; undefined when it can be. */
export function bindingConflict({ metadata, spec }: Pod): string | undefined {
  const { name } = metadata;
  if (metadata.deletionTimestamp !== undefined)
    return `pod ${name} is being deleted, cannot be assigned to a host`;
  if (spec.nodeName !== undefined) return `pod ${name} is already assigned to node ${quoted(spec.nodeName)}`;
  const isGated = (spec.schedulingGates ?? []).length > 0;
  return isGated ? `pod ${name} has non-empty .spec.schedulingGates` : undefined;
}

/** Binds the pod to the node. Annotations and labels of the binding become the pod's. */
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
    lastTransitionTime: timeText(now),
  };
  draft.status.conditions = [...others, scheduled];
}
