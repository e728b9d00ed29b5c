/**
 * Groups below `k8s.io` and `kubernetes.io` are protected: a definition in one names its approval by the
 * community.
 */
import { type FieldErrors, fieldPath } from "../../api/errors/field-error.ts";
import type { CustomResourceDefinition } from "../../api/generated/types/apiextensions-v1.ts";
import { quoted } from "../../api/values/message-text.ts";

const ANNOTATION = "api-approved.kubernetes.io";
const SEE = "see https://github.com/kubernetes/enhancements/pull/1111";

export interface Approval {
  readonly state: "missing" | "bypassed" | "approved" | "invalid";
  /** One line for the condition's message. */
  readonly text: string;
}

export function isProtected(group: string): boolean {
  return /(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group);
}

/** Undefined for groups that are not protected. */
export function findApproval({ spec, metadata }: CustomResourceDefinition): Approval | undefined {
  if (!isProtected(spec.group)) return undefined;
  const given = metadata.annotations?.[ANNOTATION] ?? "";
  if (given === "")
    return {
      state: "missing",
      text: `protected groups must have approval annotation "${ANNOTATION}", ${SEE}`,
    };
  if (given.startsWith("unapproved")) return { state: "bypassed", text: `not approved: ${quoted(given)}` };
  if (URL.canParse(given) && new URL(given).host !== "")
    return { state: "approved", text: `approved in ${given}` };
  return {
    state: "invalid",
    text: `protected groups must have approval annotation "${ANNOTATION}" with either a URL or a reason starting with "unapproved", ${SEE}`,
  };
}

/** Skips an unchanged approval. */
export function checkApproval(
  next: CustomResourceDefinition,
  previous: CustomResourceDefinition | undefined,
  errors: FieldErrors,
): void {
  const approval = findApproval(next);
  if (approval === undefined) return;
  if (previous !== undefined && findApproval(previous)?.state === approval.state) return;
  const path = fieldPath("metadata", "annotations").key(ANNOTATION);
  if (approval.state === "missing") errors.required(path, approval.text);
  if (approval.state === "invalid")
    errors.invalid(path, next.metadata.annotations?.[ANNOTATION] ?? "", approval.text);
}
