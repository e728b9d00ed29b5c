/** A webhook of a configuration, made ready to be matched and called. */
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
  /** Unlike its name, the same for no other. */
  readonly id: string;
  readonly rules: readonly RuleWithOperations[];
  readonly matchesEquivalents: boolean;
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  readonly conditions: MatchConditions | undefined;
  readonly failurePolicy: "Fail" | "Ignore";
  readonly timeoutMs: number;
  /** Whether it may be asked about what will not be done. */
  readonly bearsDryRun: boolean;
  readonly isReinvocable: boolean;
  /** Undefined when it takes none that this server makes. */
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

/** The first that the webhook names of those that are known here. */
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
