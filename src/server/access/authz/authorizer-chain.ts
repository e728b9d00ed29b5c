/** Combines authorizers: the first with an opinion decides. Without an opinion the request is not allowed. */
import type { User } from "../../request/user.ts";
import type { AccessAttributes, AccessDecision, Authorizer, HeldRules } from "./authorizer.ts";

/** Members of this group bypass all authorizers, so that they can repair broken roles. */
const PRIVILEGED = "system:masters";

const ALLOWED: AccessDecision = { outcome: "allowed", reason: "" };

export function isPrivileged({ groups }: Pick<User, "groups">): boolean {
  return groups.includes(PRIVILEGED);
}

export function authorizerChain(members: readonly Authorizer[]): Authorizer {
  return {
    decide: (attributes) => (isPrivileged(attributes.user) ? ALLOWED : decide(attributes, members)),
    rulesFor: (user, namespace) => mergedRules(members, user, namespace),
  };
}

function decide(
  attributes: AccessAttributes,
  members: readonly Authorizer[],
): AccessDecision | Promise<AccessDecision> {
  const passed: AccessDecision[] = [];
  for (const [index, member] of members.entries()) {
    const made = member.decide(attributes);
    if (made instanceof Promise)
      return decideLater(attributes, { made, passed, rest: members.slice(index + 1) });
    if (made.outcome !== "no opinion") return made;
    if (made.reason !== "" || made.error !== undefined) passed.push(made);
  }
  return withoutOpinion(passed);
}

interface Waiting {
  readonly made: Promise<AccessDecision>;
  readonly passed: readonly AccessDecision[];
  readonly rest: readonly Authorizer[];
}

async function decideLater(
  attributes: AccessAttributes,
  { made, passed, rest }: Waiting,
): Promise<AccessDecision> {
  const asked = [...passed];
  for (let next: AccessDecision | undefined = await made, at = 0; next !== undefined; at++) {
    if (next.outcome !== "no opinion") return next;
    asked.push(next);
    next = await rest[at]?.decide(attributes);
  }
  return withoutOpinion(asked);
}

function withoutOpinion(asked: readonly AccessDecision[]): AccessDecision {
  const reasons = asked.map(({ reason }) => reason).filter((reason) => reason !== "");
  const errors = asked.flatMap(({ error }) => (error === undefined ? [] : [error]));
  const reason = reasons.join("\n");
  if (errors.length === 0) return { outcome: "no opinion", reason };
  return {
    outcome: "no opinion",
    reason,
    error: errors.length === 1 ? errors.join("") : `[${errors.join(", ")}]`,
  };
}

function mergedRules(members: readonly Authorizer[], user: User, namespace: string): HeldRules {
  const all = members.flatMap((member) => member.rulesFor?.(user, namespace) ?? []);
  const errors = all.flatMap(({ error }) => (error === undefined ? [] : [error]));
  return {
    rules: all.flatMap(({ rules }) => rules),
    isIncomplete: all.some(({ isIncomplete }) => isIncomplete),
    error: errors.length === 0 ? undefined : errors.join(", "),
  };
}
