/** LeaseCandidate: a process that can hold a lease under coordinated leader election. */

import type { LeaseCandidate } from "../../api/generated/types/coordination-v1beta1.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";

export const leaseCandidate = defineKind<LeaseCandidate>("coordination.k8s.io/v1beta1", "LeaseCandidate", {
  validate({ spec }, errors) {
    if (spec.leaseName === "") errors.required("spec.leaseName");
    if (spec.binaryVersion === "") errors.required("spec.binaryVersion");
    if ((spec.strategy ?? "") === "") errors.required("spec.strategy");
  },

  cells: (it, now) => [
    it.metadata.name,
    it.spec.leaseName,
    it.spec.binaryVersion,
    it.spec.emulationVersion ?? "",
    ageText(it, now),
  ],
});
