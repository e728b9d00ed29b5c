/** MutatingWebhookConfiguration: webhooks that may change objects before they are stored. */

import type { MutatingWebhookConfiguration } from "../../api/generated/types/admissionregistration-v1.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { checkWebhooks, webhookDefaults } from "./webhook-rules.ts";

export const mutatingWebhookConfiguration = defineKind<MutatingWebhookConfiguration>(
  "admissionregistration.k8s.io/v1",
  "MutatingWebhookConfiguration",
  {
    defaults({ webhooks = [] }) {
      for (const hook of webhooks) {
        webhookDefaults(hook);
        hook.reinvocationPolicy ??= "Never";
      }
    },
    validate: ({ webhooks = [] }, errors) => checkWebhooks(webhooks, errors),
    cells: (it, now) => [it.metadata.name, (it.webhooks ?? []).length, ageText(it, now)],
  },
);
