/** ServiceAccount: an identity for processes in pods. */

import type { ServiceAccount } from "../../api/generated/types/core-v1.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind, type Draft } from "../rules/kind-rules.ts";

const ENFORCE_MOUNTABLE = "kubernetes.io/enforce-mountable-secrets";

export const serviceAccount = defineKind<ServiceAccount>("v1", "ServiceAccount", {
  prepareCreate: keepSecretNames,
  prepareUpdate: keepSecretNames,

  warnings({ metadata }, previous) {
    const value = metadata.annotations?.[ENFORCE_MOUNTABLE];
    if (value === undefined || value === previous?.metadata.annotations?.[ENFORCE_MOUNTABLE]) return [];
    return [
      `metadata.annotations[${ENFORCE_MOUNTABLE}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
    ];
  },

  cells: (it, now) => [it.metadata.name, ageText(it, now)],
});

/** Keeps only the name of each reference: Secrets are always in the account's own namespace. */
function keepSecretNames(draft: Draft<ServiceAccount>): void {
  if (draft.secrets === undefined) return;
  draft.secrets = draft.secrets.map(({ name }) => (name === undefined ? {} : { name }));
}
