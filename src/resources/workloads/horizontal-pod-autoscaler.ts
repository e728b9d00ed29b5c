/** HorizontalPodAutoscaler in v2, the stored version. `autoscaler/v1-conversion.ts` converts v1. */

import { fieldPath } from "../../api/errors/field-error.ts";
import type { HorizontalPodAutoscaler } from "../../api/generated/types/autoscaling-v2.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { checkCounts } from "../rules/value-rules.ts";
import { behaviorDefaults, checkBehavior } from "./autoscaler/behavior-rules.ts";
import { checkMetric, checkReference } from "./autoscaler/metric-rules.ts";
import { metricsText } from "./autoscaler/metric-text.ts";
import { withoutKept } from "./autoscaler/v1-conversion.ts";

/** Default target: percent of the requested cpu. */
const CPU_UTILIZATION = 80;

export const horizontalPodAutoscaler = defineKind<HorizontalPodAutoscaler>(
  "autoscaling/v2",
  "HorizontalPodAutoscaler",
  {
    defaults({ metadata, spec }) {
      if (metadata.annotations !== undefined) metadata.annotations = withoutKept(metadata.annotations);
      spec.minReplicas ??= 1;
      spec.metrics ??= [
        {
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: CPU_UTILIZATION } },
        },
      ];
      if (spec.behavior !== undefined) behaviorDefaults(spec.behavior);
    },

    validate({ spec }, errors) {
      const path = fieldPath("spec");
      const { minReplicas, maxReplicas, metrics = [], behavior } = spec;
      if (minReplicas !== undefined && minReplicas < 1) {
        errors.invalid(path.child("minReplicas"), minReplicas, "must be greater than or equal to 1");
      }
      if (maxReplicas < 1) errors.invalid(path.child("maxReplicas"), maxReplicas, "must be greater than 0");
      if (minReplicas !== undefined && maxReplicas < minReplicas) {
        const problem = "must be greater than or equal to `minReplicas`";
        errors.invalid(path.child("maxReplicas"), maxReplicas, problem);
      }
      const group = spec.scaleTargetRef.kind === "ReplicationController" ? "optional" : "required";
      checkReference(spec.scaleTargetRef, { path: path.child("scaleTargetRef"), group }, errors);
      for (const [i, metric] of metrics.entries())
        checkMetric(metric, path.child("metrics").index(i), errors);
      if (behavior !== undefined) checkBehavior(behavior, path.child("behavior"), errors);
    },

    /** Stored API versions stay valid: older servers did not check them. */
    tolerates: ({ field }) => field.endsWith(".apiVersion"),

    validateStatus({ status }, _previous, errors) {
      checkCounts(status, ["currentReplicas", "desiredReplicas"], { path: fieldPath("status"), errors });
    },

    cells(object, now) {
      const { spec, status } = object;
      const { kind, name } = spec.scaleTargetRef;
      return [
        object.metadata.name,
        `${kind}/${name}`,
        metricsText(spec.metrics ?? [], status.currentMetrics),
        spec.minReplicas === undefined ? "<unset>" : String(spec.minReplicas),
        spec.maxReplicas,
        status.currentReplicas ?? 0,
        ageText(object, now),
      ];
    },
  },
);
