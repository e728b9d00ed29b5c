/** Availability of an extension server as the condition `Available`, with upstream's reasons and messages. */
import type { APIServiceCondition } from "../../api/generated/types/apiregistration-v1.ts";
import { readyEnds } from "../egress/service-lookup.ts";
import type { ServiceLookup } from "../egress/service-lookup.ts";
import type { RemoteApi } from "./remote-apis.ts";

export interface Availability {
  readonly isAvailable: boolean;
  readonly reason: string;
  readonly message: string;
}

export const LOCAL: Availability = {
  isAvailable: true,
  reason: "Local",
  message: "Local APIServices are always available",
};

export const PASSED: Availability = { isAvailable: true, reason: "Passed", message: "all checks passed" };

/** Appends the reason for a truncated discovery to the message. */
export function withCut(availability: Availability, cut: string): Availability {
  return { ...availability, message: `${availability.message}; ${cut}` };
}

/** Finds a problem that needs no request to the server; undefined if there is none. */
export function findObstacle({ target }: RemoteApi, services: ServiceLookup): Availability | undefined {
  const { namespace, name, port } = target;
  const where = `service/${name} in ${JSON.stringify(namespace)}`;
  const service = services.findService(target);
  if (service === undefined) return missing("ServiceNotFound", `${where} is not present`);
  // An ExternalName Service does not list the ports of its target.
  if (service.spec.type === "ExternalName") return undefined;
  const servicePort = service.spec.ports?.find((each) => each.port === port);
  if (servicePort === undefined)
    return missing("ServicePortError", `${where} is not listening on port ${port}`);
  const slices = services.slices(target);
  if (slices.length === 0) return missing("EndpointsNotFound", `cannot find endpointslices for ${where}`);
  if (readyEnds(slices, servicePort).length > 0) return undefined;
  const portName = JSON.stringify(servicePort.name ?? "");
  return missing("MissingEndpoints", `endpoints for ${where} have no addresses with port name ${portName}`);
}

export function failedDiscovery(url: string, why: string): Availability {
  return missing("FailedDiscoveryCheck", `failing or missing response from ${url}: ${why}`);
}

function missing(reason: string, message: string): Availability {
  return { isAvailable: false, reason, message };
}

/** Returns the same list when nothing changes. The transition time changes only with the status. */
export function plannedConditions(
  conditions: readonly APIServiceCondition[],
  { isAvailable, reason, message }: Availability,
  now: string,
): readonly APIServiceCondition[] {
  const status = isAvailable ? "True" : "False";
  const before = conditions.find(({ type }) => type === "Available");
  if (before?.status === status && before.reason === reason && before.message === message) return conditions;
  const since = before?.status === status ? (before.lastTransitionTime ?? now) : now;
  const next = { type: "Available", status, lastTransitionTime: since, reason, message };
  return [...conditions.filter(({ type }) => type !== "Available"), next];
}
