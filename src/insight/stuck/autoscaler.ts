/** A HorizontalPodAutoscaler cannot read its target or its metrics. */
import { HorizontalPodAutoscaler } from "../../api/generated/types/autoscaling-v2.ts";
import { findCondition } from "../state/conditions.ts";
import type { Remedy, StuckRule } from "./situation.ts";
import { asKind, inNamespace, kubectlName } from "./situation.ts";

const NO_REQUEST = /missing request for (\S+) in container (\S+) of Pod/;

export const autoscalerRule: StuckRule = (situation) => {
  const autoscaler = asKind(situation, HorizontalPodAutoscaler);
  if (autoscaler === undefined) return undefined;
  const { scaleTargetRef: target } = autoscaler.spec;
  const { namespace } = autoscaler.metadata;
  const name = `${target.kind} ${target.name}`;
  const scalable = findCondition(autoscaler, "AbleToScale");
  if (scalable?.reason === "FailedGetScale")
    return {
      blockedBy: `its target ${name} cannot be scaled: ${scalable.message ?? ""}`,
      unblock: [{ command: `kubectl edit ${kubectlName(situation)}`, effect: "name a target that exists" }],
    };
  const active = findCondition(autoscaler, "ScalingActive");
  if (active?.status !== "False" || active.reason === "ScalingDisabled") return undefined;
  const [, resource, container] = NO_REQUEST.exec(active.message ?? "") ?? [];
  if (resource !== undefined && container !== undefined) {
    const of = `${target.kind.toLowerCase()} ${target.name}${inNamespace(namespace)}`;
    const command = `kubectl set resources ${of} -c ${container} --requests=${resource}=100m`;
    return {
      blockedBy: `container ${container} of ${name} requests no ${resource}, so its share in use is not known`,
      unblock: [{ command, effect: "state a request, for example so" }],
    };
  }
  const top: Remedy = {
    command: `kubectl top pods${inNamespace(namespace)}`,
    effect: "see whether the pods report metrics",
  };
  return { blockedBy: `it reads no metrics: ${active.message ?? active.reason ?? ""}`, unblock: [top] };
};
