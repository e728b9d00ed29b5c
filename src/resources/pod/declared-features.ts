/**
 * Features that a pod needs and not every version of an agent has. Nodes list the features they have in
 * `status.declaredFeatures`.
 */
import type { Container, PodSpec } from "../../api/generated/types/core-v1.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import { RESTART_ALL } from "./container/restart-rules.ts";

export const POD_RESIZE = "InPlacePodLevelResourcesVerticalScaling";
export const INIT_RESIZE = "InPlacePodVerticalScalingInitContainers";
export const RESTART_ALL_CONTAINERS = "RestartAllContainersOnContainerExits";
const USER_NAMESPACES = "UserNamespacesHostNetworkSupport";

/** Features to run the pod, sorted by name. */
export function featuresRequiredToRun(spec: PodSpec): readonly string[] {
  const found: string[] = [];
  const containers = [...spec.containers, ...(spec.initContainers ?? [])];
  if (containers.some(restartsAll)) found.push(RESTART_ALL_CONTAINERS);
  if (spec.hostNetwork === true && spec.hostUsers === false) found.push(USER_NAMESPACES);
  return found;
}

/** Features to apply a spec change to a running pod, sorted by name. */
export function featuresRequiredToUpdate(before: PodSpec, after: PodSpec): readonly string[] {
  const found: string[] = [];
  if (!jsonEqual(before.resources, after.resources)) found.push(POD_RESIZE);
  const isResized = before.initContainers?.some(
    (init, i) =>
      init.restartPolicy !== "Always" && !jsonEqual(init.resources, after.initContainers?.[i]?.resources),
  );
  if (isResized === true) found.push(INIT_RESIZE);
  return found;
}

function restartsAll({ restartPolicyRules = [] }: Container): boolean {
  return restartPolicyRules.some(({ action }) => action === RESTART_ALL);
}
