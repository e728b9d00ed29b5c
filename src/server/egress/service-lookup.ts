/** Resolves a Service to one of its ready endpoints in the store, because the server itself uses no service proxy. */
import type { Node, Service, ServicePort } from "../../api/generated/types/core-v1.ts";
import type { EndpointSlice } from "../../api/generated/types/discovery-v1.ts";
import type { Random } from "../../base/loop/loop.ts";
import { hasPodNetwork } from "../../resources/node/pod-network.ts";
import type { Store } from "../../store/store.ts";
import { LiveIndex } from "../objects/live-index.ts";
import { StoredObject } from "../objects/stored-object.ts";
import { EgressError } from "./egress.ts";

const SERVICE_LABEL = "kubernetes.io/service-name";
const SERVICES = "/registry/services/specs/";
const SLICES = "/registry/endpointslices/";
const NODES = "/registry/minions/";

export interface ServicePlace {
  readonly namespace: string;
  readonly name: string;
}

/** The host is an address, or the name of an ExternalName Service. */
export interface ServiceEnd {
  readonly host: string;
  readonly port: number;
}

/** An endpoint with its node, if known. */
interface ReadyEnd extends ServiceEnd {
  readonly nodeName: string | undefined;
}

export class ServiceLookup {
  readonly #parts: { readonly store: Store; readonly random: Random };
  /** Keys of EndpointSlices by their Service. */
  readonly #keys = new Map<string, Set<string>>();
  readonly #index = new LiveIndex<EndpointSlice>({
    prefix: SLICES,
    add: (slice) => this.#add(slice),
    remove: (slice) => this.#remove(slice),
  });

  constructor(parts: { readonly store: Store; readonly random: Random }) {
    this.#parts = parts;
  }

  findService({ namespace, name }: ServicePlace): Service | undefined {
    const entry = this.#parts.store.view.get(`${SERVICES}${namespace}/${name}`);
    return entry === undefined ? undefined : (StoredObject.of(entry).object as Service);
  }

  /** The EndpointSlices of a Service, in the order of their names. */
  slices({ namespace, name }: ServicePlace): readonly EndpointSlice[] {
    const { view } = this.#parts.store;
    this.#index.catchUp(view);
    const entries = [...(this.#keys.get(`${namespace}/${name}`) ?? [])]
      .toSorted()
      .map((key) => view.get(key));
    return entries.flatMap((entry) =>
      entry === undefined ? [] : [StoredObject.of(entry).object as EndpointSlice],
    );
  }

  /** A ready endpoint, chosen at random. Throws EgressError with upstream's texts. */
  end(place: ServicePlace, port: number): ServiceEnd {
    const service = this.findService(place);
    if (service === undefined) throw new EgressError(`service "${place.name}" not found`);
    const { type, externalName = "" } = service.spec;
    if (type === "ExternalName") return { host: externalName, port };
    const servicePort = service.spec.ports?.find((each) => each.port === port);
    if (servicePort === undefined)
      throw new EgressError(`no service port ${port} found for service "${place.name}"`);
    return this.endOfPort(place, servicePort);
  }

  endOfPort(place: ServicePlace, servicePort: ServicePort): ServiceEnd {
    const ready = readyEnds(this.slices(place), servicePort);
    const ends = ready.filter(({ nodeName }) => this.hasPodNetwork(nodeName));
    const end = ends[this.#parts.random.below(Math.max(ends.length, 1))];
    if (end !== undefined) return end;
    const why =
      ready.length > 0 ? ": its pods are on nodes without a pod network, and serve no requests" : "";
    throw new EgressError(`no endpoints available for service "${place.name}"${why}`);
  }

  /** Whether addresses of the node's pods may be dialled: others may belong to other machines on the real network. */
  hasPodNetwork(nodeName: string | undefined): boolean {
    if (nodeName === undefined) return true;
    const entry = this.#parts.store.view.get(NODES + nodeName);
    const node = entry === undefined ? undefined : (StoredObject.of(entry).object as Node);
    return node === undefined || hasPodNetwork(node);
  }

  #add(slice: EndpointSlice): void {
    const place = placeOf(slice);
    const known = this.#keys.get(place);
    if (known === undefined) this.#keys.set(place, new Set([keyOf(slice)]));
    else known.add(keyOf(slice));
  }

  #remove(slice: EndpointSlice): void {
    const place = placeOf(slice);
    const known = this.#keys.get(place);
    known?.delete(keyOf(slice));
    if (known?.size === 0) this.#keys.delete(place);
  }
}

function keyOf({ metadata }: EndpointSlice): string {
  return `${SLICES}${metadata.namespace ?? ""}/${metadata.name ?? ""}`;
}

function placeOf({ metadata }: EndpointSlice): string {
  return `${metadata.namespace ?? ""}/${metadata.labels?.[SERVICE_LABEL] ?? ""}`;
}

/** An endpoint without the ready condition is ready. A slice port without a number matches every port. */
export function readyEnds(slices: readonly EndpointSlice[], servicePort: ServicePort): readonly ReadyEnd[] {
  const { name = "", port: own, targetPort } = servicePort;
  return slices.flatMap(({ addressType, endpoints, ports }) => {
    const slicePort = ports.find((each) => (each.name ?? "") === name && (each.protocol ?? "TCP") === "TCP");
    if (addressType === "FQDN" || slicePort === undefined) return [];
    const port = slicePort.port ?? (typeof targetPort === "number" ? targetPort : own);
    return endpoints
      .filter(({ conditions }) => conditions.ready !== false)
      .flatMap(({ addresses: [host], nodeName }) => (host === undefined ? [] : [{ host, port, nodeName }]));
  });
}
