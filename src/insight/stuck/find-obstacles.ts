/** Asks all rules about a situation. */
import { claimRule } from "./claim.ts";
import { conditionRule } from "./condition.ts";
import { crashLoopRule } from "./crash-loop.ts";
import { deadlineRule } from "./deadline.ts";
import { disruptionBudgetRule } from "./disruption-budget.ts";
import { finalizerRule } from "./finalizer.ts";
import { imageRule } from "./image.ts";
import { lostNodeRule } from "./lost-node.ts";
import { missingConfigRule } from "./missing-config.ts";
import { noLeaderRule } from "./no-leader.ts";
import { ownerGoneRule } from "./owner-gone.ts";
import { pausedRule } from "./paused.ts";
import { quotaRule } from "./quota.ts";
import { refusedRule } from "./refused.ts";
import { serviceAccountRule } from "./service-account.ts";
import type { Finding, Situation, StuckRule } from "./situation.ts";
import { taintRule } from "./taint.ts";
import { unschedulableRule } from "./unschedulable.ts";
import { webhookRule } from "./webhook.ts";

/** The first rule of each list that applies counts: the later ones are more general. */
const RULES: readonly (readonly StuckRule[])[] = [
  [finalizerRule],
  [lostNodeRule],
  [ownerGoneRule],
  [noLeaderRule],
  [pausedRule],
  [disruptionBudgetRule],
  [quotaRule, webhookRule, serviceAccountRule, refusedRule],
  [claimRule, taintRule, unschedulableRule],
  [crashLoopRule, imageRule, missingConfigRule],
];

/** These repeat what the object says itself; they count when the others find nothing. */
const GENERAL: readonly StuckRule[] = [deadlineRule, conditionRule];

export interface Obstacles {
  readonly found: readonly Finding[];
  readonly general: Finding | undefined;
}

export function findObstacles(situation: Situation): Obstacles {
  const found = RULES.flatMap((rules) => firstOf(rules, situation) ?? []);
  return { found, general: firstOf(GENERAL, situation) };
}

function firstOf(rules: readonly StuckRule[], situation: Situation): Finding | undefined {
  for (const rule of rules) {
    const finding = rule(situation);
    if (finding !== undefined) return finding;
  }
  return undefined;
}
