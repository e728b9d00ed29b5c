/** A lease that no process holds: the controller that waits for it does nothing. */
import { Lease } from "../../api/generated/types/coordination-v1.ts";
import { objectState } from "../state/object-state.ts";
import type { StuckRule } from "./situation.ts";
import { asKind, inNamespace } from "./situation.ts";

export const leaseRule: StuckRule = (situation) => {
  const lease = asKind(situation, Lease);
  if (lease === undefined || objectState(lease, situation.now).isSettled) return undefined;
  const { holderIdentity = "" } = lease.spec;
  const holder = holderIdentity === "" ? "no process" : `${holderIdentity}, which no longer renews it`;
  return {
    blockedBy: `its last holder is ${holder}; the controllers that share it do nothing`,
    unblock: [
      {
        command: `kubectl get pods${inNamespace(lease.metadata.namespace)}`,
        effect: "see whether the controller runs, and start it",
      },
    ],
  };
};
