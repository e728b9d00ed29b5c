/** Reads the binding conditions of devices that must be prepared before the pod is bound. */

import type {
  AllocatedDeviceStatus,
  DeviceRequestAllocationResult,
  ResourceClaim,
} from "../../../api/generated/types/resource-v1.ts";

/** Upstream's timeout. */
export const READY_TIMEOUT_MS = 600_000;

export type Readiness =
  | { readonly type: "ready" | "pending" }
  /** Message in upstream's words. */
  | { readonly type: "failed"; readonly message: string };

const READY: Readiness = { type: "ready" };

export function hasBindingConditions({ status }: ResourceClaim): boolean {
  return (status.allocation?.devices.results ?? []).some(
    ({ bindingConditions = [] }) => bindingConditions.length > 0,
  );
}

export function readinessOf(claim: ResourceClaim): Readiness {
  for (const result of claim.status.allocation?.devices.results ?? []) {
    const readiness = deviceReadiness(claim, result);
    if (readiness.type !== "ready") return readiness;
  }
  return READY;
}

function deviceReadiness(claim: ResourceClaim, result: DeviceRequestAllocationResult): Readiness {
  const { bindingConditions = [], bindingFailureConditions = [] } = result;
  if (bindingConditions.length === 0) return READY;
  const said = (statusOf(claim, result)?.conditions ?? []).filter(({ status }) => status === "True");
  const failure = said.find(({ type }) => bindingFailureConditions.includes(type));
  if (failure !== undefined) {
    const why = `reason=${failure.reason}, message=${JSON.stringify(failure.message)}`;
    return { type: "failed", message: `claim ${claim.metadata.name} binding failed: ${why}` };
  }
  const isReady = bindingConditions.every((wanted) => said.some(({ type }) => type === wanted));
  return isReady ? READY : { type: "pending" };
}

/** True if the timeout for the claim's devices has passed. */
export function isOverdue(claim: ResourceClaim, nowMs: number): boolean {
  const { allocationTimestamp } = claim.status.allocation ?? {};
  if (allocationTimestamp === undefined || !hasBindingConditions(claim)) return false;
  return Date.parse(allocationTimestamp) + READY_TIMEOUT_MS < nowMs;
}

function statusOf(
  { status }: ResourceClaim,
  { driver, pool, device }: DeviceRequestAllocationResult,
): AllocatedDeviceStatus | undefined {
  return status.devices?.find((it) => it.device === device && it.driver === driver && it.pool === pool);
}
