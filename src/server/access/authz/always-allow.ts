/** The two ways of deciding that need to know nothing. */
import type { Authorizer } from "./authorizer.ts";

/** Whoever is known may do everything. */
export const alwaysAllow: Authorizer = {
  decide: () => ({ outcome: "allowed", reason: "" }),
  rulesFor: () => ({
    rules: [
      { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
      { verbs: ["*"], nonResourceURLs: ["*"] },
    ],
    isIncomplete: false,
    error: undefined,
  }),
};

/** Nobody is allowed anything by this one. */
export const alwaysDeny: Authorizer = {
  decide: () => ({ outcome: "no opinion", reason: "Everything is forbidden." }),
  rulesFor: () => ({ rules: [], isIncomplete: false, error: undefined }),
};
