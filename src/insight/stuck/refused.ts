/** The server refuses a write of the loop, for another reason than those with rules of their own. */
import { findFailure } from "./failure.ts";
import type { StuckRule } from "./situation.ts";
import { kubectlName } from "./situation.ts";

export const refusedRule: StuckRule = (situation) => {
  const failure = findFailure(situation);
  if (failure === undefined) return undefined;
  return {
    blockedBy: `a refused write: ${failure.message}`,
    unblock: [{ command: `kubectl edit ${kubectlName(situation)}`, effect: "change the refused field" }],
  };
};
