/** FlowSchema: assigns requests to priority levels and flows. */

import { fieldPath } from "../../api/errors/field-error.ts";
import type { FlowSchema } from "../../api/generated/types/flowcontrol-v1.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import { dns1123Subdomain } from "../../api/values/names.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { ALL_METADATA } from "../rules/metadata-parts.ts";
import { checkConditionTypes, checkFlowRule } from "./flow-rules.ts";
import { MANDATORY_SCHEMAS } from "./mandatory-flows.ts";

const SPEC = fieldPath("spec");
const DEFAULT_PRECEDENCE = 1000;
const PRECEDENCE_MAX = 10_000;

export const flowSchema = defineKind<FlowSchema>("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", {
  defaults({ spec }) {
    if (spec.matchingPrecedence === 0) spec.matchingPrecedence = DEFAULT_PRECEDENCE;
  },

  validate({ metadata, spec }, errors) {
    const { matchingPrecedence: precedence, distinguisherMethod, priorityLevelConfiguration: level } = spec;
    const path = SPEC.child("matchingPrecedence");
    if (precedence <= 0) errors.invalid(path, precedence, "must be a positive value");
    if (precedence > PRECEDENCE_MAX)
      errors.invalid(path, precedence, `must not be greater than ${PRECEDENCE_MAX}`);
    if (precedence === 1 && metadata.name !== "exempt") {
      errors.invalid(path, precedence, "only the schema named 'exempt' may have matchingPrecedence 1");
    }
    const methods = ["ByNamespace", "ByUser"];
    if (distinguisherMethod !== undefined && !methods.includes(distinguisherMethod.type)) {
      errors.notSupported(SPEC.child("distinguisherMethod", "type"), distinguisherMethod, methods);
    }
    const name = SPEC.child("priorityLevelConfiguration", "name");
    if (level.name === "") errors.required(name, "must reference a priority level");
    else errors.invalidFor(name, level.name, dns1123Subdomain(level.name));
    for (const [i, rule] of (spec.rules ?? []).entries())
      checkFlowRule(rule, SPEC.child("rules").index(i), errors);
    const fixed = MANDATORY_SCHEMAS.get(metadata.name);
    if (fixed !== undefined && !jsonEqual(spec, fixed))
      errors.invalid(SPEC, spec, `spec of '${metadata.name}' must equal the fixed value`);
  },

  statusKeeps: ALL_METADATA,
  validateStatus({ status }, _previous, errors) {
    checkConditionTypes(status.conditions ?? [], errors);
  },

  cells: (it, now) => [
    it.metadata.name,
    it.spec.priorityLevelConfiguration.name,
    it.spec.matchingPrecedence,
    it.spec.distinguisherMethod?.type ?? "<none>",
    ageText(it, now),
    it.status.conditions?.find(({ type }) => type === "Dangling")?.status ?? "?",
  ],
  // Matching order, the order in which the server tries the schemas.
  compareRows(left, right) {
    const difference = left.spec.matchingPrecedence - right.spec.matchingPrecedence;
    return difference !== 0 ? difference : left.metadata.name < right.metadata.name ? -1 : 1;
  },
});
