/** Selects the loops that run beside a server: built-in ones by name, and those that a program adds. */
import { nodeAgent, type HandlerParts, type NodeAgentOptions } from "../../agent/node-agent.ts";
import type { NodeSetup } from "../../agent/node/agent-node.ts";
import type { RuntimeHandlerFactory } from "../../agent/runtime-handler.ts";
import { SimulatedHandler } from "../../agent/simulated/simulated-handler.ts";
import { simulatedSetups, type SimulatedNodesOptions } from "../../agent/simulated/simulated-nodes.ts";
import { removeSurplusNodes } from "../../agent/simulated/surplus-nodes.ts";
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { Metrics } from "../../base/metrics/metrics.ts";
import { createClient } from "../../client/api-client.ts";
import type { Client } from "../../client/client.ts";
import type { Transport } from "../../client/transport.ts";
import type { CertificateSigner } from "../../controllers/certificates/certificate-signer.ts";
import { csrSigningController } from "../../controllers/certificates/signing.ts";
import { controllers as plainControllers, routines as plainRoutines } from "../../controllers/index.ts";
import { nodeIpamRoutine } from "../../controllers/node-lifecycle/node-ipam.ts";
import { rootCaController } from "../../controllers/root-ca.ts";
import { tokenSecretController } from "../../controllers/token-secret.ts";
import { hostPathProvisioner } from "../../controllers/volume/provisioner.ts";
import type { CacheSet } from "../../runtime/cache/cache-set.ts";
import type { Controller } from "../../runtime/controller/controller.ts";
import type { PassRecord } from "../../runtime/controller/pass-result.ts";
import type { LeaderElectionOptions } from "../../runtime/manager/leader-election.ts";
import { createManager } from "../../runtime/manager/manager.ts";
import type { Manager } from "../../runtime/manager/manager.ts";
import type { Routine } from "../../runtime/manager/routine.ts";
import { schedulerRoutine } from "../../scheduler/scheduler.ts";

/** Loops that share caches and leader election. */
export interface LoopGroup {
  readonly controllers?: readonly Controller[];
  readonly routines?: readonly Routine[];
  /** Lease of the leader election; without one the loops start at once. */
  readonly lease?: Lease;
}

export type LeasedGroup = LoopGroup & Required<Pick<LoopGroup, "lease">>;

/** Place of the Lease, and its duration unless that is the default. */
type Lease = Omit<LeaderElectionOptions, "identity">;

/** `all`, `none`, or the names of the loops to run. */
export type LoopChoice = "all" | "none" | readonly string[];

/** Settings of the built-in loops. */
export interface LoopSettings {
  /** Address ranges from which nodes get blocks for their pods, one range per IP family. */
  readonly podCidrs?: readonly string[];
  /** Whether nodes get blocks of `podCidrs`; default true. */
  readonly allocatesNodeCidrs?: boolean;
  /**
   * PEM of the CA that signed the server's certificate; empty for a CA that every machine trusts. Undefined publishes
   * no CA to pods.
   */
  readonly ca?: string;
  /** Folder of provisioned volumes on their nodes; default: below /var/lib. */
  readonly volumeFolder?: string;
  /** Signer of approved certificate requests; without it they stay unsigned. */
  readonly signer?: CertificateSigner;
}

const VOLUMES = "/var/lib/setpoint/volumes";

/** Room for a block of 256 addresses on each of 32,768 nodes; disjoint from the range of Services. */
export const POD_CIDR = "10.128.0.0/9";

/** Groups of loops that are separate programs in other clusters. */
export type BuiltInComponent = "controllers" | "scheduler";

/** Leases that let one instance work at a time; upstream's components use the same ones. */
const LEASES: Readonly<Record<BuiltInComponent, Lease>> = {
  controllers: { namespace: "kube-system", name: "kube-controller-manager" },
  scheduler: { namespace: "kube-system", name: "kube-scheduler" },
};

/** The chosen loops as one group without a lease. Throws for an unknown name. */
export function builtInLoops(choice: LoopChoice, settings: LoopSettings = {}): LoopGroup {
  const { controllers: workers, scheduler } = builtInGroups(choice, settings);
  const routines = [...(workers.routines ?? []), ...(scheduler.routines ?? [])];
  return { controllers: workers.controllers ?? [], routines };
}

/** The chosen loops by component, each with the lease for leader election among several instances. */
export function builtInGroups(
  choice: LoopChoice,
  settings: LoopSettings = {},
): Readonly<Record<BuiltInComponent, LeasedGroup>> {
  const controllers = settledControllers(settings);
  const routines = [...plainRoutines, ...nodeIpam(settings)];
  const schedulers = [schedulerRoutine()];
  const names = [...controllers.map(({ definition }) => definition), ...routines, ...schedulers].map(
    ({ name }) => name,
  );
  const chosen = chosenNames(choice, names);
  return {
    controllers: {
      controllers: controllers.filter(({ definition }) => chosen.has(definition.name)),
      routines: routines.filter(({ name }) => chosen.has(name)),
      lease: LEASES.controllers,
    },
    scheduler: {
      routines: schedulers.filter(({ name }) => chosen.has(name)),
      lease: LEASES.scheduler,
    },
  };
}

function nodeIpam({ podCidrs = [POD_CIDR], allocatesNodeCidrs = true }: LoopSettings): readonly Routine[] {
  return allocatesNodeCidrs ? [nodeIpamRoutine({ podCidrs })] : [];
}

function settledControllers({ ca, signer, volumeFolder = VOLUMES }: LoopSettings): readonly Controller[] {
  const rootCa = ca === undefined ? [] : [rootCaController(ca)];
  const signing = signer === undefined ? [] : [csrSigningController(signer)];
  const tokenSecrets = tokenSecretController({ ca: ca === "" ? undefined : ca });
  return [...plainControllers, hostPathProvisioner(volumeFolder), tokenSecrets, ...rootCa, ...signing];
}

function chosenNames(choice: LoopChoice, known: readonly string[]): ReadonlySet<string> {
  if (choice === "none") return new Set();
  if (choice === "all") return new Set(known);
  const unknown = choice.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new Error(`no built-in loop is named ${unknown.join(", ")}: choose from ${known.join(", ")}`);
  }
  return new Set(choice);
}

/** Copy of the group without its lease. */
export function unleased({ controllers = [], routines = [] }: LoopGroup): LoopGroup {
  return { controllers, routines };
}

/** Whether the group has no loop. */
export function isEmptyGroup({ controllers = [], routines = [] }: LoopGroup): boolean {
  return controllers.length + routines.length === 0;
}

/** Default number of simulated nodes. */
export const NODES = 3;

/** Name of the first node. */
export const FIRST_NODE = "node-1";

/** A node that is this machine. */
export interface MachineNode {
  readonly setup: NodeSetup;
  readonly handler: (parts: HandlerParts) => RuntimeHandlerFactory;
}

export interface NodeLoopsOptions
  extends Omit<SimulatedNodesOptions, "count">, Omit<NodeAgentOptions, "setups" | "handlers"> {
  /** Runs beside the simulated nodes. Default: none. */
  readonly machine?: MachineNode | undefined;
}

/** Runs `count` simulated nodes, and removes those that an earlier run with more nodes has left. */
export function nodeLoops(count: number, options: NodeLoopsOptions = {}): LoopGroup {
  const { machine, dataDir, hasRootCa, serve, statics } = options;
  const agent = nodeAgent({
    *setups() {
      yield* simulatedSetups({ ...options, count });
      if (machine !== undefined) yield machine.setup;
    },
    handlers: (parts) => [
      (listener) => new SimulatedHandler({ ...parts, listener }),
      ...(machine === undefined ? [] : [machine.handler(parts)]),
    ],
    ...{ dataDir, hasRootCa, serve, statics },
  });
  const run: Routine["run"] = async (parts, signal) => {
    await removeSurplusNodes({ ...options, count }, parts);
    if (count > 0 || machine !== undefined) await agent.run(parts, signal);
  };
  return { routines: [{ ...agent, run }] };
}

/** Lease for several servers over one store, which run the same nodes. */
export const NODES_LEASE: Lease = { namespace: "kube-system", name: "node-agents" };

export interface LoopSurroundings {
  readonly transport: Transport;
  /** Caches shared with other groups and run by the caller; default: caches of the group's own. */
  readonly caches?: CacheSet;
  /** Client of the loops; default: one over the transport, without retries. */
  readonly client?: Client;
  /** Client of each loop; default: `client` for all. */
  readonly clientAs?: (actor: string) => Client;
  /** Identity of this instance; default: random. */
  readonly identity?: string;
  readonly loop: Loop;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Called after each pass of a controller; default none. */
  readonly onPass?: ((pass: PassRecord) => void) | undefined;
}

/** Creates the manager of a group. Its client does not retry: the work queue does, and a retry within a process gains nothing. */
export function manage({ lease, ...group }: LoopGroup, surroundings: LoopSurroundings): Manager {
  const { transport, caches, onPass, ...others } = surroundings;
  const client = others.client ?? createClient(transport, { loop: others.loop, retry: "none" });
  const common = {
    ...group,
    ...others,
    client,
    ...(onPass !== undefined && { onPass }),
    ...(lease !== undefined && { leaderElection: lease }),
  };
  return createManager(caches === undefined ? { ...common, transport } : { ...common, caches });
}
