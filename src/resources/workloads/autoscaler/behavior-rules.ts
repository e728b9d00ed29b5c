/** Defaults and validation of an autoscaler's behavior: how fast it may scale. */

import type { FieldErrors, FieldPath } from "../../../api/errors/field-error.ts";
import type {
  HorizontalPodAutoscalerBehavior,
  HPAScalingPolicy,
  HPAScalingRules,
} from "../../../api/generated/types/autoscaling-v2.ts";
import { parseQuantity } from "../../../api/values/quantity.ts";
import type { Draft } from "../../rules/kind-rules.ts";
import { checkChoice } from "../../rules/value-rules.ts";

const STABILIZATION_SECONDS_MAX = 3600;
const PERIOD_SECONDS_MAX = 1800;

/** Scaling up has no delay. The delay for scaling down has no default here: the controller sets it. */
export function behaviorDefaults(behavior: Draft<HorizontalPodAutoscalerBehavior>): void {
  behavior.scaleUp ??= {};
  behavior.scaleUp.stabilizationWindowSeconds ??= 0;
  behavior.scaleUp.selectPolicy ??= "Max";
  behavior.scaleUp.policies ??= [
    { type: "Pods", value: 4, periodSeconds: 15 },
    { type: "Percent", value: 100, periodSeconds: 15 },
  ];
  behavior.scaleDown ??= {};
  behavior.scaleDown.selectPolicy ??= "Max";
  behavior.scaleDown.policies ??= [{ type: "Percent", value: 100, periodSeconds: 15 }];
}

export function checkBehavior(
  { scaleUp, scaleDown }: HorizontalPodAutoscalerBehavior,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (scaleUp !== undefined) checkScalingRules(scaleUp, path.child("scaleUp"), errors);
  if (scaleDown !== undefined) checkScalingRules(scaleDown, path.child("scaleDown"), errors);
}

function checkScalingRules(rules: HPAScalingRules, path: FieldPath, errors: FieldErrors): void {
  const { stabilizationWindowSeconds: seconds = 0, selectPolicy, policies = [], tolerance } = rules;
  const window = path.child("stabilizationWindowSeconds");
  if (seconds < 0) errors.invalid(window, seconds, "must be greater than or equal to zero");
  if (seconds > STABILIZATION_SECONDS_MAX) {
    errors.invalid(window, seconds, `must be less than or equal to ${STABILIZATION_SECONDS_MAX}`);
  }
  checkChoice(
    { path: path.child("selectPolicy"), value: selectPolicy, among: ["Disabled", "Max", "Min"] },
    errors,
  );
  if (policies.length === 0) errors.required(path.child("policies"), "must specify at least one Policy");
  for (const [i, policy] of policies.entries()) checkPolicy(policy, path.child("policies").index(i), errors);
  if (tolerance !== undefined && parseQuantity(tolerance).nano < 0n) {
    errors.invalid(path.child("tolerance"), tolerance, "must be greater or equal to zero");
  }
}

function checkPolicy(
  { type, value, periodSeconds }: HPAScalingPolicy,
  path: FieldPath,
  errors: FieldErrors,
): void {
  checkChoice({ path: path.child("type"), value: type, among: ["Percent", "Pods"] }, errors);
  if (value <= 0) errors.invalid(path.child("value"), value, "must be greater than zero");
  const period = path.child("periodSeconds");
  if (periodSeconds <= 0) errors.invalid(period, periodSeconds, "must be greater than zero");
  if (periodSeconds > PERIOD_SECONDS_MAX) {
    errors.invalid(period, periodSeconds, `must be less than or equal to ${PERIOD_SECONDS_MAX}`);
  }
}
