/**
 * Answers permission checks of CEL expressions, which are synchronous. A decision that needs a webhook is an error.
 */
import type { AccessDecider, AccessCheck } from "../../../api/cel/library/authorizer-library.ts";
import type { User } from "../../request/user.ts";
import type { AccessAttributes, Authorizer } from "./authorizer.ts";

/** `user` is the user of the request. */
export function accessDecider(authorizer: Authorizer, user: User): AccessDecider {
  return {
    decide: (question) => {
      const made = authorizer.decide(attributesOf(question, user));
      if (made instanceof Promise) {
        return {
          isAllowed: false,
          reason: "",
          error: "the answer of an authorization webhook is not known yet",
        };
      }
      const { outcome, reason, error } = made;
      return { isAllowed: outcome === "allowed", reason, ...(error !== undefined && { error }) };
    },
  };
}

function attributesOf({ serviceAccount, ...question }: AccessCheck, user: User): AccessAttributes {
  return {
    ...question,
    version: "*",
    user: serviceAccount === undefined ? user : accountUser(serviceAccount),
  };
}

function accountUser({ namespace, name }: { readonly namespace: string; readonly name: string }): User {
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    uid: "",
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
    extra: {},
  };
}
