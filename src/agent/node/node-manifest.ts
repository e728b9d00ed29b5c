/** Builds the Node object that an agent registers, and the parts of its status that the agent owns. */
import type { Manifest } from "../../api/api-object.ts";
import type { Node, NodeCondition, NodeStatus } from "../../api/generated/types/core-v1.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import { timeText } from "../../api/values/time.ts";
import { INIT_RESIZE, POD_RESIZE, RESTART_ALL_CONTAINERS } from "../../resources/pod/declared-features.ts";
import { isExtendedResource } from "../../resources/rules/resource-name.ts";
import type { NodeSetup, OwnCondition } from "./agent-node.ts";

/** Version that `kubectl get nodes` shows. */
const VERSION = "v1.36.4+setpoint";

/** Reasons and messages equal the kubelet's. */
const HEALTHY: readonly OwnCondition[] = [
  {
    type: "MemoryPressure",
    status: "False",
    reason: "KubeletHasSufficientMemory",
    message: "kubelet has sufficient memory available",
  },
  {
    type: "DiskPressure",
    status: "False",
    reason: "KubeletHasNoDiskPressure",
    message: "kubelet has no disk pressure",
  },
  {
    type: "PIDPressure",
    status: "False",
    reason: "KubeletHasSufficientPID",
    message: "kubelet has sufficient PID available",
  },
  { type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" },
];

/** The server adds the not-ready taint, which a controller removes once the node is ready. */
export function nodeManifest(setup: NodeSetup, now: number): Manifest<Node> {
  return {
    metadata: {
      name: setup.name,
      labels: nodeLabels(setup),
      annotations: nodeAnnotations(setup),
    },
    spec: {
      ...(setup.taints && { taints: setup.taints }),
      ...(setup.podCidr !== undefined && { podCIDR: setup.podCidr, podCIDRs: [setup.podCidr] }),
    },
    status: { ...machineStatus(setup), conditions: conditionsAt(undefined, setup, now) },
  };
}

export function nodeAnnotations({ annotations }: NodeSetup): Readonly<Record<string, string>> {
  return { "volumes.kubernetes.io/controller-managed-attach-detach": "true", ...annotations };
}

export function nodeLabels({ name, labels, systemInfo }: NodeSetup): Readonly<Record<string, string>> {
  const { architecture, operatingSystem } = systemInfo(name);
  return {
    "beta.kubernetes.io/arch": architecture,
    "beta.kubernetes.io/os": operatingSystem,
    "kubernetes.io/arch": architecture,
    "kubernetes.io/hostname": name,
    "kubernetes.io/os": operatingSystem,
    ...labels,
  };
}

/**
 * Patch of the agent's fields that differ; undefined when none does. Resources and conditions of other
 * clients stay.
 */
export function findMachinePatch(node: Node, wanted: MachineStatus): object | undefined {
  const changes: Record<string, unknown> = { ...findIdentityPatch(node, wanted) };
  for (const list of ["capacity", "allocatable"] as const) {
    const amounts = Object.entries(wanted[list]).filter(([name, text]) => node.status[list]?.[name] !== text);
    if (amounts.length > 0) changes[list] = Object.fromEntries(amounts);
  }
  return Object.keys(changes).length === 0 ? undefined : changes;
}

/** Patch of the fields that only the agent writes: addresses, versions, features. */
export function findIdentityPatch(node: Node, wanted: MachineStatus): object | undefined {
  const changes: Record<string, unknown> = {};
  for (const field of [
    "addresses",
    "nodeInfo",
    "daemonEndpoints",
    "declaredFeatures",
    "runtimeHandlers",
  ] as const) {
    if (!jsonEqual(wanted[field], node.status[field])) changes[field] = wanted[field];
  }
  // The merge key is the type, so a merge would lose one of two addresses of one type.
  if (changes["addresses"] !== undefined)
    changes["addresses"] = [...(wanted.addresses ?? []), { $patch: "replace" }];
  return Object.keys(changes).length === 0 ? undefined : changes;
}

/**
 * Patch of `allocatable` for extended resources that other clients wrote into `capacity`: it must equal the
 * capacity. Undefined when it does.
 */
export function findAllocatablePatch({ status }: Node): Readonly<Record<string, string | null>> | undefined {
  const { capacity = {}, allocatable = {} } = status;
  const changes: Record<string, string | null> = {};
  for (const name of new Set([...Object.keys(capacity), ...Object.keys(allocatable)])) {
    if (isExtendedResource(name) && capacity[name] !== allocatable[name])
      changes[name] = capacity[name] ?? null;
  }
  return Object.keys(changes).length === 0 ? undefined : changes;
}

/** Whether the agent's conditions have the desired status, reason and message. */
export function hasOwnConditions({ status }: Node, setup: NodeSetup): boolean {
  return ownConditions(setup).every((own) => {
    const known = status.conditions?.find(({ type }) => type === own.type);
    return known?.status === own.status && known.reason === own.reason && known.message === own.message;
  });
}

/** The agent's conditions with a new heartbeat time. */
export function conditionsAt(
  node: Node | undefined,
  setup: NodeSetup,
  now: number,
): readonly NodeCondition[] {
  return ownConditions(setup).map((own) => {
    const known = node?.status.conditions?.find(({ type }) => type === own.type);
    const since = known?.status === own.status ? known.lastTransitionTime : undefined;
    return { ...own, lastHeartbeatTime: timeText(now), lastTransitionTime: since ?? timeText(now) };
  });
}

function ownConditions({ conditions = [] }: NodeSetup): readonly OwnCondition[] {
  return [...HEALTHY, ...conditions];
}

/** The agent's facts about its machine, independent of the Node object. */
export type MachineStatus = Pick<
  NodeStatus,
  "addresses" | "nodeInfo" | "daemonEndpoints" | "declaredFeatures" | "runtimeHandlers"
> & {
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
};

export function machineStatus({ name, addresses, capacity, ...setup }: NodeSetup): MachineStatus {
  const system = setup.systemInfo(name);
  return {
    addresses: [
      ...addresses.map((address) => ({ address, type: "InternalIP" })),
      { address: name, type: "Hostname" },
    ],
    capacity,
    allocatable: capacity,
    daemonEndpoints: { kubeletEndpoint: { Port: setup.apiPort } },
    declaredFeatures: [POD_RESIZE, INIT_RESIZE, RESTART_ALL_CONTAINERS],
    nodeInfo: { ...system, kubeProxyVersion: "", kubeletVersion: VERSION },
    runtimeHandlers: ["", ...setup.runtimeHandlers].map((handler) => ({ name: handler })),
  };
}
