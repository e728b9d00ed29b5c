/** Says yes or no to a certificate request: the only endpoint that writes its Approved and Denied conditions. */
import type { CertificateSigningRequest } from "../../api/generated/types/certificates-v1.ts";
import type { EndpointRules } from "../write/revise.ts";
import { timeText } from "../write/system-metadata.ts";
import { draftOf } from "./kept.ts";

export const approval: EndpointRules<CertificateSigningRequest> = {
  prepare(draft, previous, { now }) {
    const conditions = draft.status.conditions ?? [];
    draft.spec = draftOf(previous.spec);
    draft.status = draftOf(previous.status);
    const before = new Map(
      (previous.status.conditions ?? []).map((condition) => [condition.type, condition]),
    );
    for (const condition of conditions) {
      condition.lastUpdateTime ??= timeText(now);
      const known = before.get(condition.type);
      const isSameStatus = known?.status === condition.status && known.lastTransitionTime !== undefined;
      condition.lastTransitionTime ??= isSameStatus ? known.lastTransitionTime : timeText(now);
    }
    if (conditions.length > 0) draft.status.conditions = conditions;
    else delete draft.status.conditions;
  },
  validate() {
    // The kind's own rules cover the conditions.
  },
};
