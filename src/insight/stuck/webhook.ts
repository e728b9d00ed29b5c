/** An admission webhook refuses the write, or cannot be called. */
import { findFailure } from "./failure.ts";
import type { StuckRule } from "./situation.ts";

const DENIED = /admission webhook "([^"]+)" denied the request(?:: (.*))?/s;
const UNREACHED = /failed calling webhook "([^"]+)": (.*)/s;
const CONFIGURATIONS = "validatingwebhookconfigurations,mutatingwebhookconfigurations";

export const webhookRule: StuckRule = (situation) => {
  const message = findFailure(situation)?.message ?? "";
  const denied = DENIED.exec(message);
  if (denied !== null) {
    const [, name = "", why = "no reason given"] = denied;
    const effect = "find its rules, then change the refused field";
    return {
      blockedBy: `webhook ${name} refuses the write: ${why}`,
      unblock: [{ command: `kubectl get ${CONFIGURATIONS}`, effect }],
    };
  }
  const [, name, why = ""] = UNREACHED.exec(message) ?? [];
  if (name === undefined) return undefined;
  return {
    blockedBy: `webhook ${name} does not answer: ${why}`,
    unblock: [
      { command: `kubectl get ${CONFIGURATIONS}`, effect: "find its service, and repair it" },
      {
        command: `kubectl edit ${CONFIGURATIONS}`,
        effect: "failurePolicy: Ignore lets writes pass without it",
      },
    ],
  };
};
