/** Applies a Job's pod failure policy to a failed pod. The first matching rule decides. */
import type {
  Job,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyRule,
} from "../../api/generated/types/batch-v1.ts";
import type { ContainerStatus, Pod } from "../../api/generated/types/core-v1.ts";

export type FailureAction =
  | { readonly action: "Count" | "FailIndex" | "Ignore" }
  | { readonly action: "FailJob"; readonly message: string };

/** A failure without a matching rule counts. */
export function failureActionOf({ spec }: Job, pod: Pod): FailureAction {
  for (const [at, rule] of (spec.podFailurePolicy?.rules ?? []).entries()) {
    const match = findMatch(rule, pod);
    if (match === undefined) continue;
    if (rule.action !== "FailJob") return { action: rule.action };
    return { action: "FailJob", message: `${match} matching FailJob rule at index ${String(at)}` };
  }
  return { action: "Count" };
}

/** Returns a description of the match. */
function findMatch(
  { onExitCodes, onPodConditions = [] }: PodFailurePolicyRule,
  pod: Pod,
): string | undefined {
  const name = `${pod.metadata.namespace ?? ""}/${pod.metadata.name}`;
  if (onExitCodes !== undefined) {
    const container = findContainer(onExitCodes, pod);
    const code = String(container?.state.terminated?.exitCode);
    return container && `Container ${container.name} for pod ${name} failed with exit code ${code}`;
  }
  const condition = (pod.status.conditions ?? []).find(({ type, status }) =>
    onPodConditions.some((pattern) => pattern.type === type && pattern.status === status),
  );
  return condition && `Pod ${name} has condition ${condition.type}`;
}

/** Exit code 0 is no failure, even if a rule lists it. */
function findContainer(
  { containerName, operator, values }: PodFailurePolicyOnExitCodesRequirement,
  { status }: Pod,
): ContainerStatus | undefined {
  const statuses = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])];
  return statuses.find(({ name, state }) => {
    const exitCode = state.terminated?.exitCode ?? 0;
    if (exitCode === 0 || (containerName !== undefined && containerName !== name)) return false;
    return values.includes(exitCode) === (operator === "In");
  });
}
