/** Whether the server of an API can be asked, and why not: the condition `Available`, in upstream's words. */
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

/** The same with a word on what of the API's discovery is not shown. */
export function withCut(availability: Availability, cut: string): Availability {
  return { ...availability, message: `${availability.message}; ${cut}` };
}

/** What can be seen without asking anybody; undefined when nothing speaks against asking. */
export function findObstacle({ target }: RemoteApi, services: ServiceLookup): Availability | undefined {
  const { namespace, name, port } = target;
  const where = `service/${name} in ${JSON.stringify(namespace)}`;
  const service = services.findService(target);
  if (service === undefined) return missing("ServiceNotFound", `${where} is not present`);
  // Whoever is behind another name says nothing here of where it listens.
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

/** The same list when nothing changes. The time is that of the last change between available and not. */
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
