/** Contract of an authorizer. Each authorizer has its own file; `authorization.ts` asks them in order. */
import type { PolicyRule } from "../../../api/generated/types/rbac-v1.ts";
import type { User } from "../../request/user.ts";

/** An access question: about a resource, or about a non-resource path. Empty strings are unset. */
export interface AccessAttributes {
  readonly user: User;
  /** For a resource `get`, `list` … or a special verb such as `bind`; for a path the lower-case HTTP method. */
  readonly verb: string;
  /** Empty for a resource. */
  readonly path: string;
  readonly group: string;
  readonly version: string;
  /** Empty for a path. */
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Selectors from the query of a list, watch or deletecollection. */
  readonly fieldSelector: string;
  readonly labelSelector: string;
}

/** Attributes with every field unset. */
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
  /** "no opinion" passes the question to the next authorizer; if none allows the request, it is forbidden. */
  readonly outcome: "allowed" | "denied" | "no opinion";
  /** Reason for people; may be empty. */
  readonly reason: string;
  /** Error that prevented a decision. */
  readonly error?: string;
}

export interface Authorizer {
  /** Synchronous if all data is in memory. Never rejects: a failure is returned as `error`. */
  decide(attributes: AccessAttributes): AccessDecision | Promise<AccessDecision>;
  /** The user's rules in a namespace. Absent for authorizers without rules. */
  rulesFor?(user: User, namespace: string): HeldRules;
}

/** A user's permissions, as far as rules describe them. */
export interface HeldRules {
  readonly rules: readonly PolicyRule[];
  /** True if the user may have permissions beyond these rules. */
  readonly isIncomplete: boolean;
  /** Reason why the rules are incomplete. */
  readonly error: string | undefined;
}
