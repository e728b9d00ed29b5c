/** Restart policies and rules of a single container. */

import type { FieldErrors, FieldPath } from "../../../api/errors/field-error.ts";
import type {
  Container,
  ContainerResizePolicy,
  ContainerRestartRule,
  PodSpec,
} from "../../../api/generated/types/core-v1.ts";
import { addNew, checkChoice, checkRequiredChoice } from "../../rules/value-rules.ts";
import type { PodScope } from "../pod-scope.ts";

const RESTART_POLICIES = ["Always", "Never", "OnFailure"];
/** Action that restarts all containers of the pod. */
export const RESTART_ALL = "RestartAllContainers";
const ACTIONS = ["Restart", RESTART_ALL];
const OPERATORS = ["In", "NotIn"];
const RULES_MAX = 20;
const EXIT_CODES_MAX = 255;
const RESIZED = ["cpu", "memory"];
const RESIZE_POLICIES = ["NotRequired", "RestartContainer"];

export function checkRestartPolicy(container: Container, path: FieldPath, errors: FieldErrors): void {
  const { restartPolicy, restartPolicyRules = [] } = container;
  const at = path.child("restartPolicy");
  if (restartPolicy !== undefined) {
    checkChoice({ path: at, value: restartPolicy, among: RESTART_POLICIES }, errors);
  } else if (restartPolicyRules.length > 0) {
    errors.required(at, "must specify restartPolicy when restart rules are used");
  }
  const rules = path.child("restartPolicyRules");
  if (restartPolicyRules.length > RULES_MAX) errors.tooLong(rules, RULES_MAX);
  for (const [i, rule] of restartPolicyRules.entries()) checkRestartRule(rule, rules.index(i), errors);
}

function checkRestartRule(
  { action, exitCodes }: ContainerRestartRule,
  path: FieldPath,
  errors: FieldErrors,
): void {
  checkChoice({ path: path.child("action"), value: action ?? "", among: ACTIONS }, errors);
  const at = path.child("exitCodes");
  if (exitCodes === undefined) return errors.required(at, "must be specified");
  checkChoice({ path: at.child("operator"), value: exitCodes.operator ?? "", among: OPERATORS }, errors);
  if ((exitCodes.values?.length ?? 0) > EXIT_CODES_MAX) errors.tooLong(at.child("values"), EXIT_CODES_MAX);
}

/** The first rule that matches the exit code. Every action restarts something. */
export function findRestartRule(
  { restartPolicyRules = [] }: Container,
  exitCode: number,
): ContainerRestartRule | undefined {
  return restartPolicyRules.find(({ exitCodes }) => {
    if (exitCodes === undefined) return false;
    const isListed = (exitCodes.values ?? []).includes(exitCode);
    return exitCodes.operator === "NotIn" ? !isListed : isListed;
  });
}

/** Whether a container may run again after this exit code. Its own policy takes precedence over the pod's. */
export function mayRunAgain(
  container: Container,
  { restartPolicy = "Always" }: PodSpec,
  exitCode: number,
): boolean {
  if (findRestartRule(container, exitCode) !== undefined) return true;
  const policy = container.restartPolicy ?? restartPolicy;
  return policy === "Always" || (policy === "OnFailure" && exitCode !== 0);
}

/** Whether the exit of some container can restart all containers. */
export function canRestartAll({ containers, initContainers }: PodSpec): boolean {
  const isCause = ({ restartPolicyRules }: Container): boolean =>
    restartPolicyRules?.some(({ action }) => action === RESTART_ALL) ?? false;
  return containers.some(isCause) || (initContainers?.some(isCause) ?? false);
}

export function checkResizePolicy(
  policies: readonly ContainerResizePolicy[],
  path: FieldPath,
  { errors, spec }: PodScope,
): void {
  const seen = new Set<string>();
  for (const [i, { resourceName, restartPolicy }] of policies.entries()) {
    if (!addNew(seen, resourceName)) errors.duplicate(path.index(i), resourceName);
    checkRequiredChoice({ path, value: resourceName, among: RESIZED }, errors);
    checkRequiredChoice({ path, value: restartPolicy, among: RESIZE_POLICIES }, errors);
    if (spec.restartPolicy === "Never" && restartPolicy !== "NotRequired") {
      errors.invalid(path, restartPolicy, "must be 'NotRequired' when `restartPolicy` is 'Never'");
    }
  }
}
