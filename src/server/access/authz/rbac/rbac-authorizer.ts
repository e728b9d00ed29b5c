/**
 * Decides by RBAC roles; no rule forbids anything. The rules that match a question are cached per user until a role
 * or binding changes. A repeated question therefore costs a few lookups, however many bindings exist.
 */
import type { PolicyRule } from "../../../../api/generated/types/rbac-v1.ts";
import type { User } from "../../../request/user.ts";
import type { AccessAttributes, AccessDecision, Authorizer, HeldRules } from "../authorizer.ts";
import type { RoleIndex } from "./role-index.ts";
import { ruleConcerns } from "./rule-match.ts";

/** Bounds of the cached users, and of the questions per user: enough for a busy server between two role changes. */
const USERS_MAX = 4096;
const QUESTIONS_MAX = 1024;
/** Longer keys are not cached: a review may ask any question for any user. */
const QUESTION_CHARS_MAX = 1000;
const USER_CHARS_MAX = 10_000;
/** Estimated memory of a match, in characters. */
const MATCH_CHARS = 64;
/** Bound of the whole cache. */
const KEPT_CHARS_MAX = 16 * 1024 * 1024;

/** A rule that matches a kind of question. */
interface Match {
  /** Undefined if the rule applies to all names. */
  readonly names: ReadonlySet<string> | undefined;
  readonly decision: AccessDecision;
}

/** Cached result for all questions that differ only in the object's name. */
interface Verdict {
  readonly matches: readonly Match[];
  /** Decision if no match fits. */
  readonly otherwise: AccessDecision;
}

type Verdicts = Map<string, Verdict>;

const NO_OPINION: AccessDecision = { outcome: "no opinion", reason: "" };

export class RbacAuthorizer implements Authorizer {
  readonly #book: RoleIndex;
  #edition = -1;
  readonly #byUser = new Map<string, Verdicts>();
  /** Lookup by identity: all requests of a connection share one User object. */
  #known = new WeakMap<User, Verdicts>();
  #keptChars = 0;

  constructor(book: RoleIndex) {
    this.#book = book;
  }

  decide(attributes: AccessAttributes): AccessDecision {
    const { user, verb, group, resource, subresource, namespace, path, name } = attributes;
    const verdicts = this.#verdictsOf(user);
    const key = `${verb}\n${group}\n${resource}\n${subresource}\n${namespace}\n${path}`;
    let verdict = verdicts.get(key);
    if (verdict === undefined) {
      verdict = this.#judge(attributes);
      if (key.length <= QUESTION_CHARS_MAX) this.#keep(key, verdict, verdicts);
    }
    for (const { names, decision } of verdict.matches)
      if (names === undefined || names.has(name)) return decision;
    return verdict.otherwise;
  }

  rulesFor(user: User, namespace: string): HeldRules {
    const grants = this.#book.grantsTo(user, namespace);
    // Each role once, however many bindings grant it.
    const roles = new Set(grants.flatMap((grant) => ("rules" in grant ? [grant.rules] : [])));
    const rules = [...roles].flat();
    const missing = grants.flatMap((grant) => ("missing" in grant ? [grant.missing] : []));
    return { rules, isIncomplete: missing.length > 0, error: errorsText(missing) };
  }

  #verdictsOf(user: User): Verdicts {
    const { edition } = this.#book;
    if (edition !== this.#edition || this.#keptChars > KEPT_CHARS_MAX) {
      this.#edition = edition;
      this.#forget();
    }
    const known = this.#known.get(user);
    if (known !== undefined) return known;
    const key = JSON.stringify([user.name, ...user.groups]);
    const verdicts = this.#byUser.get(key) ?? new Map<string, Verdict>();
    if (key.length <= USER_CHARS_MAX && !this.#byUser.has(key)) {
      if (this.#byUser.size >= USERS_MAX) this.#forget();
      this.#byUser.set(key, verdicts);
      this.#keptChars += key.length;
    }
    this.#known.set(user, verdicts);
    return verdicts;
  }

  #keep(key: string, verdict: Verdict, verdicts: Verdicts): void {
    if (verdicts.size >= QUESTIONS_MAX) verdicts.clear();
    verdicts.set(key, verdict);
    // Entries that a user's own bound evicts still count: at worst everything is evicted too early.
    this.#keptChars += key.length + verdict.matches.length * MATCH_CHARS;
  }

  #forget(): void {
    this.#byUser.clear();
    this.#known = new WeakMap();
    this.#keptChars = 0;
  }

  #judge(attributes: AccessAttributes): Verdict {
    const matches: Match[] = [];
    const missing: string[] = [];
    // Further bindings of the same role add nothing.
    const seen = new Set<readonly PolicyRule[]>();
    for (const grant of this.#book.grantsTo(attributes.user, attributes.namespace)) {
      if ("missing" in grant) {
        missing.push(grant.missing);
        continue;
      }
      if (seen.has(grant.rules)) continue;
      seen.add(grant.rules);
      const decision = { outcome: "allowed", reason: `RBAC: allowed by ${grant.source}` } as const;
      for (const rule of grant.rules) {
        if (!ruleConcerns(rule, attributes)) continue;
        const names = namesOf(rule, attributes);
        matches.push({ names, decision });
        // A match for all names ends the search.
        if (names === undefined) return { matches, otherwise: NO_OPINION };
      }
    }
    const error = errorsText(missing);
    return {
      matches,
      otherwise: error === undefined ? NO_OPINION : { outcome: "no opinion", reason: `RBAC: ${error}` },
    };
  }
}

/** Set of a rule's resourceNames, built once per rule. */
const nameSets = new WeakMap<readonly string[], ReadonlySet<string>>();

function namesOf(
  { resourceNames = [] }: PolicyRule,
  { resource }: AccessAttributes,
): ReadonlySet<string> | undefined {
  if (resource === "" || resourceNames.length === 0) return undefined;
  const known = nameSets.get(resourceNames);
  if (known !== undefined) return known;
  const made = new Set(resourceNames);
  nameSets.set(resourceNames, made);
  return made;
}

/** Several errors in brackets, each once. */
function errorsText(errors: readonly string[]): string | undefined {
  const [first, ...others] = new Set(errors);
  if (first === undefined) return undefined;
  return others.length === 0 ? first : `[${[first, ...others].join(", ")}]`;
}
