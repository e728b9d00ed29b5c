/** Workload: pods that the scheduler looks at together. */

import type { Workload } from "../../api/generated/types/scheduling-v1alpha2.ts";
import { ageText } from "../human-duration.ts";
import { defineKind } from "../kind-rules.ts";

export const workload = defineKind<Workload>("scheduling.k8s.io/v1alpha2", "Workload", {
  cells: (it, now) => [it.metadata.name, ageText(it, now)],
});
