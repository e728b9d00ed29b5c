/** ValidatingWebhookConfiguration: webhooks that may refuse objects before they are stored. */

import type { ValidatingWebhookConfiguration } from "../../api/generated/types/admissionregistration-v1.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { checkWebhooks, webhookDefaults } from "./webhook-rules.ts";

export const validatingWebhookConfiguration = defineKind<ValidatingWebhookConfiguration>(
  "admissionregistration.k8s.io/v1",
  "ValidatingWebhookConfiguration",
  {
    defaults({ webhooks = [] }) {
      for (const hook of webhooks) {
        webhookDefaults(hook);
      }
    },
    validate: ({ webhooks = [] }, errors) => checkWebhooks(webhooks, errors),
    cells: (it, now) => [it.metadata.name, (it.webhooks ?? []).length, ageText(it, now)],
  },
);
