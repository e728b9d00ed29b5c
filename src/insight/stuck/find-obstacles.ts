/** Asks all rules about a situation. */
import { autoscalerRule } from "./autoscaler.ts";
import { claimRule } from "./claim.ts";
import { conditionRule } from "./condition.ts";
import { crashLoopRule } from "./crash-loop.ts";
import { daemonSetRule } from "./daemon-set.ts";
import { deadlineRule, failedJobRule } from "./deadline.ts";
import { apiServiceRule, definitionRule } from "./definition.ts";
import { disruptionBudgetRule } from "./disruption-budget.ts";
import { endedPodRule } from "./ended-pod.ts";
import { finalizerRule } from "./finalizer.ts";
import { imageRule } from "./image.ts";
import { ingressRule } from "./ingress.ts";
import { leaseRule } from "./lease.ts";
import { lostNodeRule } from "./lost-node.ts";
import { missingConfigRule } from "./missing-config.ts";
import { noLeaderRule } from "./no-leader.ts";
import { notReadyRule } from "./not-ready.ts";
import { ownerGoneRule } from "./owner-gone.ts";
import { pausedRule } from "./paused.ts";
import { quotaRule } from "./quota.ts";
import { refusedBelowRule, refusedRule } from "./refused.ts";
import { serviceAccountRule } from "./service-account.ts";
import { loadBalancerRule, serviceRule } from "./service.ts";
import type { Finding, Situation, StuckRule } from "./situation.ts";
import { suspendedRule } from "./suspended.ts";
import { taintRule } from "./taint.ts";
import { unschedulableRule } from "./unschedulable.ts";
import { webhookRule } from "./webhook.ts";

/** The first rule of each list that applies counts: the later ones are more general. */
const RULES: readonly (readonly StuckRule[])[] = [
  [finalizerRule],
  [lostNodeRule],
  [ownerGoneRule],
  [noLeaderRule],
  [leaseRule],
  [pausedRule],
  [failedJobRule],
  [suspendedRule],
  [disruptionBudgetRule],
  [serviceRule],
  [loadBalancerRule],
  [ingressRule],
  [daemonSetRule],
  [definitionRule, apiServiceRule],
  [autoscalerRule],
  [quotaRule, webhookRule, serviceAccountRule, refusedRule],
  [claimRule, taintRule, unschedulableRule],
  [crashLoopRule, imageRule, missingConfigRule, endedPodRule, notReadyRule],
];

/** These repeat what the object says itself; they count when the others find nothing. */
const GENERAL: readonly StuckRule[] = [refusedBelowRule, conditionRule];

export interface Obstacles {
  readonly found: readonly Finding[];
  /** A consequence of the others. */
  readonly last: Finding | undefined;
  readonly general: Finding | undefined;
}

export function findObstacles(situation: Situation): Obstacles {
  const found = RULES.flatMap((rules) => firstOf(rules, situation) ?? []);
  return { found, last: deadlineRule(situation), general: firstOf(GENERAL, situation) };
}

function firstOf(rules: readonly StuckRule[], situation: Situation): Finding | undefined {
  for (const rule of rules) {
    const finding = rule(situation);
    if (finding !== undefined) return finding;
  }
  return undefined;
}
