/**
 * Creates the two webhook plugins. They run after all other plugins of their half, because they wait for the network.
 */
import type { Loop } from "../../../base/loop/loop.ts";
import type { Metrics } from "../../../base/metrics/metrics.ts";
import type { Store } from "../../../store/store.ts";
import { accessDecider } from "../../access/authz/access-decider.ts";
import type { Authorizer } from "../../access/authz/authorizer.ts";
import type { Egress } from "../../egress/egress.ts";
import type { Registry } from "../../objects/registry.ts";
import type { Versions } from "../../objects/versions.ts";
import type { AdmissionPlugin } from "../plugin.ts";
import { HookChain } from "./hook-chain.ts";
import { HookIndex } from "./hook-index.ts";
import type { DeciderFor } from "./hook-match.ts";
import { mutatingWebhooks } from "./mutating-webhooks.ts";
import { validatingWebhooks } from "./validating-webhooks.ts";
import { WebhookMetrics } from "./webhook-metrics.ts";

export interface WebhookParts {
  readonly loop: Loop;
  readonly store: Store;
  readonly registry: Registry;
  readonly versions: Versions;
  readonly egress: Egress;
  readonly metrics: Metrics;
  /** Authorizer for expressions. */
  readonly authorizer: Authorizer;
}

export function webhookPlugins(parts: WebhookParts): readonly AdmissionPlugin[] {
  const { loop, egress, versions, authorizer } = parts;
  const deciderFor: DeciderFor = (user) => accessDecider(authorizer, user);
  const metrics = new WebhookMetrics(parts.metrics);
  const chain = new HookChain({ loop, egress, versions, deciderFor, metrics });
  const index = new HookIndex("mutating", parts);
  return [
    mutatingWebhooks({ index, chain, versions, metrics }),
    validatingWebhooks(new HookIndex("validating", parts), chain),
  ];
}
