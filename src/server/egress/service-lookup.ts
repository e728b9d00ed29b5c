/** Where a Service leads, by what the store says: one of its ready endpoints, as whoever does not run a service proxy must find it. */
import type { Service, ServicePort } from "../../api/generated/types/core-v1.ts";
import type { EndpointSlice } from "../../api/generated/types/discovery-v1.ts";
import type { Random } from "../../base/loop.ts";
import { prefixEnd } from "../../store/store.ts";
import type { Entry, Store } from "../../store/store.ts";
import { StoredObject } from "../stored-object.ts";
import { EgressError } from "./egress.ts";

const SERVICE_LABEL = "kubernetes.io/service-name";
const SERVICES = "/registry/services/specs/";
const SLICES = "/registry/endpointslices/";

export interface ServicePlace {
  readonly namespace: string;
  readonly name: string;
}

/** The host is an address, or a name where the Service says only that. */
export interface ServiceEnd {
  readonly host: string;
  readonly port: number;
}

export class ServiceLookup {
  readonly #parts: { readonly store: Store; readonly random: Random };

  constructor(parts: { readonly store: Store; readonly random: Random }) {
    this.#parts = parts;
  }

  findService({ namespace, name }: ServicePlace): Service | undefined {
    const entry = this.#parts.store.view.get(`${SERVICES}${namespace}/${name}`);
    return entry === undefined ? undefined : (StoredObject.of(entry).object as Service);
  }

  /** Of this Service, in the order of their names. */
  slices({ namespace, name }: ServicePlace): readonly EndpointSlice[] {
    const prefix = `${SLICES}${namespace}/`;
    const mark = Buffer.from(`"${SERVICE_LABEL}":"${name}"`);
    const found: EndpointSlice[] = [];
    for (const entry of this.#parts.store.view.range(prefix, prefixEnd(prefix))) {
      // Those of other Services need not be decoded, and kept, for that.
      if (!bytesOf(entry).includes(mark)) continue;
      const slice = StoredObject.of(entry).object as EndpointSlice;
      if (slice.metadata.labels?.[SERVICE_LABEL] === name) found.push(slice);
    }
    return found;
  }

  /** One of the ready ends, by chance. Throws EgressError in upstream's words. */
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
    const ends = readyEnds(this.slices(place), servicePort);
    const end = ends[this.#parts.random.below(Math.max(ends.length, 1))];
    if (end === undefined) throw new EgressError(`no endpoints available for service "${place.name}"`);
    return end;
  }
}

function bytesOf({ value }: Entry): Buffer {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

/** An endpoint that says nothing of being ready is; a slice without a number stands for every port. */
export function readyEnds(slices: readonly EndpointSlice[], servicePort: ServicePort): readonly ServiceEnd[] {
  const { name = "", port: own, targetPort } = servicePort;
  return slices.flatMap(({ addressType, endpoints, ports }) => {
    const slicePort = ports.find((each) => (each.name ?? "") === name && (each.protocol ?? "TCP") === "TCP");
    if (addressType === "FQDN" || slicePort === undefined) return [];
    const port = slicePort.port ?? (typeof targetPort === "number" ? targetPort : own);
    return endpoints
      .filter(({ conditions }) => conditions.ready !== false)
      .flatMap(({ addresses: [host] }) => (host === undefined ? [] : [{ host, port }]));
  });
}
