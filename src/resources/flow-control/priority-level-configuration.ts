/** PriorityLevelConfiguration: how many requests of a level run at once, and how the others queue. */

import { type FieldErrors, fieldPath } from "../../api/errors/field-error.ts";
import type {
  LimitedPriorityLevelConfiguration,
  PriorityLevelConfiguration,
  QueuingConfiguration,
} from "../../api/generated/types/flowcontrol-v1.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind, type Draft } from "../rules/kind-rules.ts";
import { ALL_METADATA } from "../rules/metadata-parts.ts";
import { checkConditionTypes } from "./flow-rules.ts";
import { CATCH_ALL, MANDATORY_LEVELS } from "./mandatory-flows.ts";

const SPEC = fieldPath("spec");
const LIMITED = SPEC.child("limited");
const RESPONSE = LIMITED.child("limitResponse");
const QUEUING = RESPONSE.child("queuing");
const QUEUES_MAX = 10_000_000;
/** Shuffle sharding draws a hand of queues from the bits of one hash. */
const ENTROPY_BITS_MAX = 60;

export const priorityLevelConfiguration = defineKind<PriorityLevelConfiguration>(
  "flowcontrol.apiserver.k8s.io/v1",
  "PriorityLevelConfiguration",
  {
    defaults({ spec }) {
      if (spec.type === "Exempt") spec.exempt ??= {};
      if (spec.exempt !== undefined) {
        spec.exempt.nominalConcurrencyShares ??= 0;
        spec.exempt.lendablePercent ??= 0;
      }
      if (spec.limited !== undefined) limitedDefaults(spec.limited);
    },

    validate(it, errors) {
      checkType(it, errors);
      checkExempt(it, errors);
      if (it.spec.type === "Limited" && it.spec.limited !== undefined) checkLimited(it.spec.limited, errors);
      checkFixed(it, errors);
    },

    statusKeeps: ALL_METADATA,
    validateStatus({ status }, _previous, errors) {
      checkConditionTypes(status.conditions ?? [], errors);
    },

    cells(it, now) {
      const { type, limited } = it.spec;
      const queuing = limited?.limitResponse.queuing;
      return [
        it.metadata.name,
        type,
        limited?.nominalConcurrencyShares ?? "<none>",
        queuing?.queues ?? "<none>",
        queuing?.handSize ?? "<none>",
        queuing?.queueLengthLimit ?? "<none>",
        ageText(it, now),
      ];
    },
  },
);

function limitedDefaults(limited: Draft<LimitedPriorityLevelConfiguration>): void {
  // The type requires the field, but clients may omit it. Zero is a valid value, so only an absent one gets
  // the default.
  const shares: { nominalConcurrencyShares?: number } = limited;
  shares.nominalConcurrencyShares ??= 30;
  limited.lendablePercent ??= 0;
  const { queuing } = limited.limitResponse;
  if (queuing === undefined) return;
  queuing.handSize ||= 8;
  queuing.queues ||= 64;
  queuing.queueLengthLimit ||= 50;
}

function checkType({ metadata, spec }: PriorityLevelConfiguration, errors: FieldErrors): void {
  const { type, exempt, limited } = spec;
  if ((metadata.name === "exempt") !== (type === "Exempt")) {
    errors.invalid(SPEC.child("type"), type, "type must be 'Exempt' if and only if name is 'exempt'");
  }
  switch (type) {
    case "Exempt":
      if (limited !== undefined) errors.forbidden(LIMITED, "must be nil if the type is not Limited");
      break;
    case "Limited":
      if (exempt !== undefined) errors.forbidden(SPEC.child("exempt"), "must be nil if the type is Limited");
      if (limited === undefined) errors.required(LIMITED, "must not be empty when type is Limited");
      break;
    default:
      errors.notSupported(SPEC.child("type"), type, ["Exempt", "Limited"]);
  }
}

/** The spec of `catch-all` is fixed. Other checks cover `exempt`. */
function checkFixed({ metadata: { name }, spec }: PriorityLevelConfiguration, errors: FieldErrors): void {
  if (name === CATCH_ALL && !jsonEqual(spec, MANDATORY_LEVELS.get(name)))
    errors.invalid(SPEC, spec, `spec of '${name}' must equal the fixed value`);
}

function checkExempt({ spec: { exempt } }: PriorityLevelConfiguration, errors: FieldErrors): void {
  const path = SPEC.child("exempt");
  const { nominalConcurrencyShares: shares = 0, lendablePercent: lendable = 0 } = exempt ?? {};
  if (shares < 0)
    errors.invalid(path.child("nominalConcurrencyShares"), shares, "must be a non-negative integer");
  if (lendable < 0 || lendable > 100) {
    errors.invalid(path.child("lendablePercent"), lendable, "must be between 0 and 100, inclusive");
  }
}

function checkLimited(limited: LimitedPriorityLevelConfiguration, errors: FieldErrors): void {
  const {
    nominalConcurrencyShares: shares,
    lendablePercent = 0,
    borrowingLimitPercent = 0,
    limitResponse,
  } = limited;
  if (shares < 0)
    errors.invalid(LIMITED.child("nominalConcurrencyShares"), shares, "must be a non-negative integer");
  if (lendablePercent < 0 || lendablePercent > 100) {
    errors.invalid(LIMITED.child("lendablePercent"), lendablePercent, "must be between 0 and 100, inclusive");
  }
  if (borrowingLimitPercent < 0) {
    const detail = "if specified, must be a non-negative integer";
    errors.invalid(LIMITED.child("borrowingLimitPercent"), borrowingLimitPercent, detail);
  }
  const { type, queuing } = limitResponse;
  if (type === "Reject") {
    if (queuing !== undefined) {
      errors.forbidden(QUEUING, "must be nil if limited.limitResponse.type is not Limited");
    }
  } else if (type !== "Queue") {
    errors.notSupported(RESPONSE.child("type"), type, ["Queue", "Reject"]);
  } else if (queuing === undefined) {
    errors.required(QUEUING, "must not be empty if limited.limitResponse.type is Limited");
  } else {
    checkQueuing(queuing, errors);
  }
}

function checkQueuing(
  { queues, handSize, queueLengthLimit }: QueuingConfiguration,
  errors: FieldErrors,
): void {
  if (queueLengthLimit <= 0)
    errors.invalid(QUEUING.child("queueLengthLimit"), queueLengthLimit, "must be positive");
  if (queues <= 0) errors.invalid(QUEUING.child("queues"), queues, "must be positive");
  else if (queues > QUEUES_MAX) {
    errors.invalid(QUEUING.child("queues"), queues, `must not be greater than ${QUEUES_MAX}`);
  }
  const path = QUEUING.child("handSize");
  if (handSize <= 0) errors.invalid(path, handSize, "must be positive");
  else if (handSize > queues) {
    errors.invalid(path, handSize, `should not be greater than queues (${queues})`);
  } else if (entropyBits(queues, handSize) > ENTROPY_BITS_MAX) {
    const detail = `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${ENTROPY_BITS_MAX}`;
    errors.invalid(path, handSize, detail);
  }
}

/**
 * Number of bits that choose an ordered hand of different queues. The loop ends early once the bound is
 * exceeded.
 */
function entropyBits(queues: number, handSize: number): number {
  let bits = 0;
  for (let i = 0; i < handSize && bits <= ENTROPY_BITS_MAX; i++) bits += Math.log2(queues - i);
  return Math.ceil(bits);
}
