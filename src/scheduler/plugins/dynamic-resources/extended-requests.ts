/**
 * Builds the requests of the claim for a pod's extended resources, and the mapping of containers to requests.
 *
 * A request is named by the indexes of its container and resource, as upstream's. Concurrent containers get separate devices. Init
 * containers run one after the other: they use devices of later containers and share what they need beyond that.
 */

import type {
  Container,
  ContainerExtendedResourceRequest,
  PodSpec,
} from "../../../api/generated/types/core-v1.ts";
import type { DeviceClass, DeviceRequest } from "../../../api/generated/types/resource-v1.ts";
import { isSidecar } from "../../../resources/pod/pod-resources.ts";
import { resourceNumber } from "../../../resources/pod/resource-number.ts";

export interface ExtendedRequests {
  readonly requests: readonly DeviceRequest[];
  readonly mappings: readonly ContainerExtendedResourceRequest[];
}

interface CountedRequest {
  readonly name: string;
  readonly count: number;
}

/** A container with its index; init containers come first. */
interface Place {
  readonly container: Container;
  readonly index: number;
  readonly runsToCompletion: boolean;
}

export function extendedRequests(spec: PodSpec, classes: ReadonlyMap<string, DeviceClass>): ExtendedRequests {
  const places = placesOf(spec);
  const requests: DeviceRequest[] = [];
  const mappings: ContainerExtendedResourceRequest[] = [];
  for (const [resource, deviceClass] of [...classes].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const wanted = requestsFor(resource, places);
    requests.push(...wanted.requests.map((request) => deviceRequest(request, deviceClass)));
    mappings.push(...wanted.mappings);
  }
  return { requests: requests.toSorted((a, b) => (a.name < b.name ? -1 : 1)), mappings };
}

function placesOf({ initContainers = [], containers }: PodSpec): readonly Place[] {
  return [...initContainers, ...containers].map((container, index) => ({
    container,
    index,
    runsToCompletion: index < initContainers.length && !isSidecar(container),
  }));
}

function requestsFor(
  resource: string,
  places: readonly Place[],
): { readonly requests: readonly CountedRequest[]; readonly mappings: ExtendedRequests["mappings"] } {
  const own = new Map<number, CountedRequest>();
  for (const place of places) {
    const count = countOf(place, resource);
    if (!place.runsToCompletion && count > 0)
      own.set(place.index, { name: requestName(place, resource), count });
  }
  const staying = places.flatMap(({ container, index }) => mapped(container, resource, own.get(index)));
  const uses = places.filter((it) => it.runsToCompletion).map((it) => passingUse(it, resource, own));
  const shared = uses.flatMap(({ extra }) => extra ?? []).toSorted((a, b) => b.count - a.count)[0];
  const passing = uses.flatMap(({ container, borrowed, extra }) =>
    [...borrowed, ...(extra === undefined ? [] : [shared])].flatMap((it) => mapped(container, resource, it)),
  );
  return {
    requests: [...(shared === undefined ? [] : [shared]), ...own.values()],
    mappings: [...staying, ...passing],
  };
}

interface PassingUse {
  readonly container: Container;
  /** Requests of later containers that the init container uses. */
  readonly borrowed: readonly CountedRequest[];
  /** Devices needed beyond the borrowed ones. */
  readonly extra: CountedRequest | undefined;
}

function passingUse(place: Place, resource: string, own: ReadonlyMap<number, CountedRequest>): PassingUse {
  const borrowed: CountedRequest[] = [];
  let missing = countOf(place, resource);
  for (const [index, request] of own) {
    if (missing <= 0 || index < place.index) continue;
    borrowed.push(request);
    missing -= request.count;
  }
  const extra = missing > 0 ? { name: requestName(place, resource), count: missing } : undefined;
  return { container: place.container, borrowed, extra };
}

function countOf({ container }: Place, resource: string): number {
  const text = container.resources.requests?.[resource];
  return text === undefined ? 0 : resourceNumber(resource, text);
}

function requestName({ container, index }: Place, resource: string): string {
  const names = Object.keys(container.resources.requests ?? {}).toSorted();
  return `container-${index}-request-${names.indexOf(resource)}`;
}

function mapped(
  { name: containerName }: Container,
  resourceName: string,
  request: CountedRequest | undefined,
): readonly ContainerExtendedResourceRequest[] {
  return request === undefined ? [] : [{ containerName, resourceName, requestName: request.name }];
}

function deviceRequest({ name, count }: CountedRequest, { metadata }: DeviceClass): DeviceRequest {
  return { name, exactly: { deviceClassName: metadata.name, allocationMode: "ExactCount", count } };
}
