/** Creates everything that the server maintains, in the order in which it is put in place. */
import { findCidr } from "../../api/values/ip-address.ts";
import { runInTurns } from "../../base/loop/run-in-turns.ts";
import type { YieldingWork } from "../../base/loop/yielding-work.ts";
import type { NodeGraph } from "../access/authz/node/node-graph.ts";
import type { SelectionIndexes } from "../objects/selection/selection-indexes.ts";
import type { WriteParts } from "../verbs/writing.ts";
import type { NetworkOptions } from "../write/companions/network-options.ts";
import type { RepairParts } from "./allocation-repair.ts";
import { allocationRepair } from "./allocation-repair.ts";
import { advertisedAddress } from "./bootstrap/advertised-address.ts";
import { apiServices } from "./bootstrap/api-services.ts";
import { requiredRoles } from "./bootstrap/default-roles.ts";
import { extensionAuthentication } from "./bootstrap/extension-authentication.ts";
import type { RequestHeaderTrust } from "./bootstrap/extension-authentication.ts";
import { flowControl } from "./bootstrap/flow-control.ts";
import { kubernetesService } from "./bootstrap/kubernetes-service.ts";
import { policyTypes } from "./bootstrap/policy-types.ts";
import { systemPriorityClasses } from "./bootstrap/priority-classes.ts";
import { runtimeClasses } from "./bootstrap/runtime-classes.ts";
import { defaultServiceCidr } from "./bootstrap/service-cidr.ts";
import type { SharedKeyParts } from "./bootstrap/shared-keys.ts";
import { systemNamespaces } from "./bootstrap/system-namespaces.ts";
import { tokenTracking } from "./bootstrap/token-tracking.ts";
import { identityLease } from "./leases/identity-lease.ts";
import { SERVER_LEASES, ServerLease } from "./leases/server-lease.ts";
import type { PeriodicTask } from "./periodic-task.ts";
import type { RequiredObjects } from "./required-objects.ts";
import { Upkeep } from "./upkeep.ts";

export interface UpkeepParts extends WriteParts, SharedKeyParts, RepairParts {
  readonly indexes: SelectionIndexes;
}

export interface UpkeepOptions {
  /** Whether other servers may use the same store. Only then does the server write its lease every few seconds. */
  readonly isStoreShared?: boolean | undefined;
  /** Authorities that extension servers may trust. Absent without sockets. */
  readonly requestHeaderTrust?: (() => RequestHeaderTrust) | undefined;
  /** Name of the machine, for a standalone server. It publishes an identity Lease and the start of token use tracking. */
  readonly hostname?: string | undefined;
}

/** Address of the server for clients outside the process. */
export interface ServerAddress {
  /** Address on which the server listens. */
  readonly host: string;
  readonly port: number;
  /** Addresses of the machine. */
  readonly machineAddresses: readonly string[];
}

export interface UpkeepSettings extends UpkeepOptions, NetworkOptions, ServerAddress {
  /** Set when the Node authorizer is enabled. */
  readonly nodeGraph?: NodeGraph | undefined;
}

/** Interval at which indexes read changes. Otherwise the changes accumulate while nothing is looked up. */
const INDEXES_MS = 1000;
/** The same while objects change: an object that was just written is still decoded. */
const BUSY_INDEXES_MS = 100;

export function createUpkeep(verbParts: UpkeepParts, options: UpkeepSettings): Upkeep {
  const { registry, loop, store } = verbParts;
  const { serviceCidrs, host, port, machineAddresses, hostname } = options;
  const [cidr = ""] = serviceCidrs;
  const family = findCidr(cidr)?.address.family ?? "IPv4";
  const address = advertisedAddress({ host, machine: machineAddresses, family });
  const lease = options.isStoreShared === true ? new ServerLease(store, address) : undefined;
  const addresses = (): readonly string[] => lease?.addresses() ?? [address];
  const source = lease === undefined ? undefined : SERVER_LEASES;
  const required = [
    systemNamespaces(registry),
    defaultServiceCidr({ registry, loop, cidrs: serviceCidrs }),
    systemPriorityClasses(registry),
    runtimeClasses(registry),
    apiServices(registry, loop),
    requiredRoles(registry),
    ...flowControl({ registry, store, loop }),
    policyTypes({ registry, store }),
    ...kubernetesService({ registry, cidr, addresses, source, port }),
    ...trustOfExtensions(verbParts, options),
    ...(hostname === undefined ? [] : [tokenTracking(registry, loop)]),
  ];
  const tasks = [
    ...(lease === undefined ? [] : [lease.task()]),
    ...(hostname === undefined
      ? []
      : identityLease(verbParts, { hostname, requestHeaderTrust: options.requestHeaderTrust })),
    ...allocationRepair(verbParts, options.nodePorts),
    followedChanges(verbParts, options.nodeGraph),
  ];
  return new Upkeep(verbParts, { required, tasks });
}

function followedChanges({ loop, store, indexes }: UpkeepParts, graph: NodeGraph | undefined): PeriodicTask {
  let isBusy = false;
  const keepUp = function* (): YieldingWork<boolean> {
    const hasGraphChanged = graph !== undefined && (yield* graph.keepUp());
    const haveIndexesChanged = yield* indexes.keepUp(store.view);
    return hasGraphChanged || haveIndexesChanged;
  };
  return {
    name: "indexes",
    firstAfterMs: INDEXES_MS,
    everyMs: INDEXES_MS,
    againAfterMs: () => (isBusy ? BUSY_INDEXES_MS : undefined),
    perform: async () => {
      isBusy = await runInTurns(keepUp(), loop);
    },
  };
}

function trustOfExtensions(
  { registry }: UpkeepParts,
  { requestHeaderTrust, isStoreShared = false }: UpkeepOptions,
): readonly RequiredObjects[] {
  return requestHeaderTrust === undefined
    ? []
    : [extensionAuthentication({ registry, requestHeaderTrust, isStoreShared })];
}
