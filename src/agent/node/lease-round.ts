/** When the nodes of a process renew their leases: in slots of a round, so that the work is spread over time. */

/** The kubelet's interval: four times in the 40 s of a lease. */
const RENEW_MS = 10_000;
/** The interval of many nodes: twice in the 40 s. Renewals are nearly all that a large cluster does when it is idle. */
const MANY_RENEW_MS = 20_000;
const MANY = 2000;
/** Up to this number of nodes share a slot, so that a small cluster has one commit in a round. */
const RENEWED_TOGETHER = 100;
const SLOT_MS = 1000;

export interface LeaseRound {
  readonly slots: number;
  readonly slotMs: number;
}

export function leaseRound(nodes: number): LeaseRound {
  const roundMs = nodes > MANY ? MANY_RENEW_MS : RENEW_MS;
  const slots = Math.min(roundMs / SLOT_MS, Math.max(1, Math.ceil(nodes / RENEWED_TOGETHER)));
  return { slots, slotMs: roundMs / slots };
}
