/** Everything that the server keeps, in the order in which it is put in place. */
import { findCidr } from "../../api/ip-address.ts";
import type { Workshop } from "../call.ts";
import { advertisedAddress } from "./advertised-address.ts";
import { apiServices } from "./api-services.ts";
import { kubernetesService } from "./kubernetes-service.ts";
import { systemPriorityClasses } from "./priority-classes.ts";
import { defaultServiceCidr } from "./service-cidr.ts";
import { systemNamespaces } from "./system-namespaces.ts";
import { Upkeep } from "./upkeep.ts";

export interface HouseOptions {
  /** One for each family, the default first. */
  readonly serviceCidrs: readonly string[];
  /** Where the server listens. */
  readonly host: string;
  readonly port: number;
  /** The addresses of the machine. */
  readonly machineAddresses: readonly string[];
}

export function createUpkeep(workshop: Workshop, options: HouseOptions): Upkeep {
  const { registry, loop } = workshop;
  const { serviceCidrs, host, port, machineAddresses } = options;
  const [cidr = ""] = serviceCidrs;
  const family = findCidr(cidr)?.address.family ?? "IPv4";
  const address = advertisedAddress({ host, machine: machineAddresses, family });
  return new Upkeep(workshop, [
    systemNamespaces(registry),
    defaultServiceCidr({ registry, loop, cidrs: serviceCidrs }),
    systemPriorityClasses(registry),
    apiServices(registry, loop),
    ...kubernetesService({ registry, cidr, address, port }),
  ]);
}
