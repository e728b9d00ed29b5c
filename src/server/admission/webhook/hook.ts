/** Compiles one webhook of a configuration for matching and calling. */
import type {
  MutatingWebhook,
  RuleWithOperations,
  ValidatingWebhook,
  WebhookClientConfig,
} from "../../../api/generated/types/admissionregistration-v1.ts";
import { compileLabelSelector, type LabelSelector } from "../../../api/selectors/label-selector.ts";
import type { EgressTarget, EgressTrust } from "../../egress/egress.ts";
import { restTarget } from "../../egress/rest-target.ts";
import { MatchConditions } from "./match-conditions.ts";

export type HookType = "mutating" | "validating";

export type ReviewVersion = "v1" | "v1beta1";

export interface Hook {
  readonly type: HookType;
  readonly configuration: string;
  readonly name: string;
  /** Unique among all webhooks; names may repeat. */
  readonly id: string;
  readonly rules: readonly RuleWithOperations[];
  readonly matchesEquivalents: boolean;
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  readonly conditions: MatchConditions | undefined;
  readonly failurePolicy: "Fail" | "Ignore";
  readonly timeoutMs: number;
  /** Whether the webhook may be called for a dry run. */
  readonly bearsDryRun: boolean;
  readonly isReinvocable: boolean;
  /** Undefined if the webhook accepts no AdmissionReview version that this server sends. */
  readonly reviewVersion: ReviewVersion | undefined;
  readonly target: EgressTarget;
  readonly trust: EgressTrust;
}

interface Origin {
  readonly type: HookType;
  readonly configuration: string;
  readonly index: number;
}

const DEFAULT_SECONDS = 10;
const DEFAULT_PORT = 443;

export function hookOf(webhook: MutatingWebhook | ValidatingWebhook, origin: Origin): Hook {
  const { type, configuration, index } = origin;
  const { failurePolicy = "Fail", matchConditions = [], sideEffects } = webhook;
  return {
    type,
    configuration,
    name: webhook.name,
    id: `${configuration}/${String(index)}/${webhook.name}`,
    rules: webhook.rules ?? [],
    matchesEquivalents: webhook.matchPolicy !== "Exact",
    namespaceSelector: compileLabelSelector(webhook.namespaceSelector),
    objectSelector: compileLabelSelector(webhook.objectSelector),
    conditions:
      matchConditions.length === 0 ? undefined : new MatchConditions(matchConditions, failurePolicy),
    failurePolicy,
    timeoutMs: (webhook.timeoutSeconds ?? DEFAULT_SECONDS) * 1000,
    bearsDryRun: sideEffects === "None" || sideEffects === "NoneOnDryRun",
    isReinvocable: "reinvocationPolicy" in webhook && webhook.reinvocationPolicy === "IfNeeded",
    reviewVersion: webhook.admissionReviewVersions.find(isReviewVersion),
    target: restTarget(targetOf(webhook.clientConfig)),
    trust: { ca: certificateOf(webhook.clientConfig) },
  };
}

/** Predicate for `find`, which picks the first supported version that the webhook lists. */
function isReviewVersion(version: string): version is ReviewVersion {
  return version === "v1" || version === "v1beta1";
}

function targetOf({ url = "", service }: WebhookClientConfig): EgressTarget {
  if (service === undefined) return { type: "url", url };
  const { namespace, name, port = DEFAULT_PORT, path = "" } = service;
  return { type: "service", namespace, name, port, path };
}

function certificateOf({ caBundle = "" }: WebhookClientConfig): string | undefined {
  return caBundle === "" ? undefined : Buffer.from(caBundle, "base64").toString();
}
