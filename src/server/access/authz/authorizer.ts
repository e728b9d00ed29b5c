/** Who may do what. There is one file for each way of knowing, and `authorization.ts` asks them in order. */
import type { PolicyRule } from "../../../api/generated/types/rbac-v1.ts";
import type { User } from "../../request/user.ts";

/** What somebody wants to do: with a resource, or with a path that is none. Empty texts are not said. */
export interface AccessAttributes {
  readonly user: User;
  /** Of a resource `get`, `list` … or one of its own such as `bind`; of a path the HTTP method in lower case. */
  readonly verb: string;
  /** Empty when a resource is asked for. */
  readonly path: string;
  readonly group: string;
  readonly version: string;
  /** Empty when a path is asked for. */
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** As in the query of a list, watch or deletecollection. */
  readonly fieldSelector: string;
  readonly labelSelector: string;
}

/** What is not said of a question. */
export const NOTHING_ASKED: Omit<AccessAttributes, "user" | "verb"> = {
  path: "",
  group: "",
  version: "",
  resource: "",
  subresource: "",
  namespace: "",
  name: "",
  fieldSelector: "",
  labelSelector: "",
};

export interface AccessDecision {
  /** Who has no opinion leaves it to the next; what nobody allows is forbidden. */
  readonly outcome: "allowed" | "denied" | "no opinion";
  /** Why, for people; may be empty. */
  readonly reason: string;
  /** What kept it from being decided. */
  readonly error?: string;
}

export interface Authorizer {
  /** Answers at once where everything needed is in memory. Never rejects: what goes wrong is `error` with no opinion. */
  decide(attributes: AccessAttributes): AccessDecision | Promise<AccessDecision>;
  /** What somebody may do in a namespace, by rules; without it no rules are known here. */
  rulesFor?(user: User, namespace: string): HeldRules;
}

/** What somebody may do, as far as rules say. */
export interface HeldRules {
  readonly rules: readonly PolicyRule[];
  /** Whether they may be allowed to do more than the rules say. */
  readonly isIncomplete: boolean;
  /** Why. */
  readonly error: string | undefined;
}
