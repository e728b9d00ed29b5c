/**
 * The requests that go before all others: health probes and lease writes. A component that seems dead because it waited
 * is restarted, which increases the load.
 */

const PROBE = /^\/(?:healthz|livez|readyz)(?:[/?]|$)/;
/** Path of one lease, or of the leases of a namespace. */
const LEASE = /^\/apis\/coordination\.k8s\.io\/v1\/namespaces\/[^/?]+\/leases(?<name>\/[^/?]+)?(?:\?|$)/;

export interface WaitingRequest {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  /** Undefined while the client is not verified. */
  readonly user: string | undefined;
}

/** Lists and watches of leases are not urgent: they cost as much as other lists. Only a verified user writes leases. */
export function isUrgent({ method, target, user }: WaitingRequest): boolean {
  if (PROBE.test(target)) return true;
  if (user === undefined) return false;
  const lease = LEASE.exec(target);
  if (lease === null) return false;
  return lease.groups?.["name"] === undefined ? method === "POST" : method !== "DELETE";
}
