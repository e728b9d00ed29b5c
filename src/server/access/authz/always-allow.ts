/** The authorizers AlwaysAllow and AlwaysDeny. */
import type { Authorizer } from "./authorizer.ts";

/** Allows every request. `isOpenToAll` keeps anonymous clients out. */
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

/** Allows nothing. */
export const alwaysDeny: Authorizer = {
  decide: () => ({ outcome: "no opinion", reason: "Everything is forbidden." }),
  rulesFor: () => ({ rules: [], isIncomplete: false, error: undefined }),
};
