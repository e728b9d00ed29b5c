/** Lease: the holder of a lock, and the time until which it holds it. */

import type { Lease } from "../../api/generated/types/coordination-v1.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind, type Draft } from "../rules/kind-rules.ts";

export const lease = defineKind<Lease>("coordination.k8s.io/v1", "Lease", {
  isHeartbeat: true,

  prepareCreate(draft) {
    dropCoordination(draft);
  },

  prepareUpdate(draft, previous) {
    if (previous.spec.strategy === undefined && previous.spec.preferredHolder === undefined)
      dropCoordination(draft);
  },

  validate({ spec }, errors) {
    const {
      leaseDurationSeconds: seconds = 1,
      leaseTransitions: transitions = 0,
      preferredHolder = "",
    } = spec;
    if (seconds <= 0) errors.invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0");
    if (transitions < 0) {
      errors.invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0");
    }
    if (preferredHolder !== "" && (spec.strategy ?? "") === "") {
      errors.forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined");
    }
  },

  cells: (it, now) => [it.metadata.name, it.spec.holderIdentity ?? "", ageText(it, now)],
});

/** Drops the fields of coordinated leader election, a feature that is off by default. */
function dropCoordination({ spec }: Draft<Lease>): void {
  delete spec.strategy;
  delete spec.preferredHolder;
}
