/** A HorizontalPodAutoscaler cannot read its target or its metrics. */
import { HorizontalPodAutoscaler } from "../../api/generated/types/autoscaling-v2.ts";
import { findCondition } from "../state/conditions.ts";
import type { Finding, StuckRule } from "./situation.ts";
import { asKind, inNamespace, kubectlName } from "./situation.ts";

const NO_REQUEST = /missing request for (\S+) in container (\S+) of Pod/;

export const autoscalerRule: StuckRule = (situation) => {
  const autoscaler = asKind(situation, HorizontalPodAutoscaler);
  if (autoscaler === undefined) return undefined;
  const { kind, name } = autoscaler.spec.scaleTargetRef;
  const scalable = findCondition(autoscaler, "AbleToScale");
  if (scalable?.reason === "FailedGetScale")
    return {
      blockedBy: `its target ${kind} ${name} cannot be scaled: ${scalable.message ?? ""}`,
      unblock: [{ command: `kubectl edit ${kubectlName(situation)}`, effect: "name a target that exists" }],
    };
  const active = findCondition(autoscaler, "ScalingActive");
  if (active?.status !== "False" || active.reason === "ScalingDisabled") return undefined;
  return withoutMetrics(autoscaler, active.message ?? active.reason ?? "");
};

function withoutMetrics({ metadata, spec }: HorizontalPodAutoscaler, message: string): Finding {
  const { kind, name } = spec.scaleTargetRef;
  const place = inNamespace(metadata.namespace);
  const [, resource, container] = NO_REQUEST.exec(message) ?? [];
  if (resource !== undefined && container !== undefined) {
    const of = `${kind.toLowerCase()} ${name}${place}`;
    const command = `kubectl set resources ${of} -c ${container} --requests=${resource}=100m`;
    return {
      blockedBy: `container ${container} of ${kind} ${name} requests no ${resource}, so its share in use is not known`,
      unblock: [{ command, effect: "state a request, for example so" }],
    };
  }
  const effect = "see whether the pods report metrics";
  return {
    blockedBy: `it reads no metrics: ${message}`,
    unblock: [{ command: `kubectl top pods${place}`, effect }],
  };
}
