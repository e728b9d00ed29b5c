/** Which loops run beside a server: the built-in ones by name, and those that a program brings along. */
import { simulatedNodes, type SimulatedNodesOptions } from "../../agent/simulated/simulated-nodes.ts";
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
import type { CacheSet } from "../../runtime/cache/cache-set.ts";
import type { Controller } from "../../runtime/controller/controller.ts";
import type { LeaderElectionOptions } from "../../runtime/manager/leader-election.ts";
import { createManager } from "../../runtime/manager/manager.ts";
import type { Manager } from "../../runtime/manager/manager.ts";
import type { Routine } from "../../runtime/manager/routine.ts";
import { schedulerRoutine } from "../../scheduler/scheduler.ts";

/** Loops that run together: on the same caches, under the same lead. */
export interface LoopGroup {
  readonly controllers?: readonly Controller[];
  readonly routines?: readonly Routine[];
  /** Which Lease they lead by; without one they run at once. */
  readonly lease?: Lease;
}

export type LeasedGroup = LoopGroup & Required<Pick<LoopGroup, "lease">>;

/** Which it is, and how long it lasts where that is not as usual. */
type Lease = Omit<LeaderElectionOptions, "identity">;

/** `all`, `none`, or the names of those that shall run. */
export type LoopChoice = "all" | "none" | readonly string[];

/** What the built-in loops are told. */
export interface LoopSettings {
  /** Where nodes get blocks of addresses for their pods from; one range per family. */
  readonly podCidrs?: readonly string[];
  /** Whether nodes get such blocks; they do unless given. */
  readonly allocatesNodeCidrs?: boolean;
  /**
   * PEM, of the authority that has signed the server's certificate; empty where it is one that every machine trusts. Where there is no certificate,
   * none is told to pods.
   */
  readonly ca?: string;
  /** Who signs requests for certificates that were approved; without it nobody does. */
  readonly signer?: CertificateSigner;
}

/** A block of 256 addresses for each of 32,768 nodes; apart from the range of Services. */
export const POD_CIDR = "10.128.0.0/9";

/** The parts of a cluster that are programs of their own in other clusters. */
export type BuiltInPart = "controllers" | "scheduler";

/** One of several instances does the work at a time; upstream's own wait for the same leases. */
const LEASES: Readonly<Record<BuiltInPart, Lease>> = {
  controllers: { namespace: "kube-system", name: "kube-controller-manager" },
  scheduler: { namespace: "kube-system", name: "kube-scheduler" },
};

/** All that are chosen, in one group without a lease. Throws for a name that no built-in loop has. */
export function builtInLoops(choice: LoopChoice, settings: LoopSettings = {}): LoopGroup {
  const { controllers: workers, scheduler } = builtInGroups(choice, settings);
  const routines = [...(workers.routines ?? []), ...(scheduler.routines ?? [])];
  return { controllers: workers.controllers ?? [], routines };
}

/** The same by part, each with the lease under which it runs where there may be several of it. */
export function builtInGroups(
  choice: LoopChoice,
  settings: LoopSettings = {},
): Readonly<Record<BuiltInPart, LeasedGroup>> {
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

function settledControllers({ ca, signer }: LoopSettings): readonly Controller[] {
  const rootCa = ca === undefined ? [] : [rootCaController(ca)];
  const signing = signer === undefined ? [] : [csrSigningController(signer)];
  const tokenSecrets = tokenSecretController({ ca: ca === "" ? undefined : ca });
  return [...plainControllers, tokenSecrets, ...rootCa, ...signing];
}

function chosenNames(choice: LoopChoice, known: readonly string[]): ReadonlySet<string> {
  if (choice === "none") return new Set();
  if (choice === "all") return new Set(known);
  const unknown = choice.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new Error(`there is no built-in loop ${unknown.join(", ")}: there are ${known.join(", ")}`);
  }
  return new Set(choice);
}

/** The loops of a group, without waiting for a lease. */
export function unleased({ controllers = [], routines = [] }: LoopGroup): LoopGroup {
  return { controllers, routines };
}

/** Whether nothing would run. */
export function isEmptyGroup({ controllers = [], routines = [] }: LoopGroup): boolean {
  return controllers.length + routines.length === 0;
}

/** As many as a cluster has when nobody says how many. */
export const NODES = 3;

export function nodeLoops(count: number, options: Omit<SimulatedNodesOptions, "count"> = {}): LoopGroup {
  return count === 0 ? {} : { routines: [simulatedNodes({ ...options, count })] };
}

/** Where several servers over one store have the same nodes. */
export const NODES_LEASE: Lease = { namespace: "kube-system", name: "simulated-nodes" };

export interface LoopSurroundings {
  readonly transport: Transport;
  /** Shared with other groups, and run by whoever made them; a group of its own has its own. */
  readonly caches?: CacheSet;
  /** Over the transport, without retries, unless given. */
  readonly client?: Client;
  /** In whose name each of the loops works; all with the same client unless given. */
  readonly clientAs?: (actor: string) => Client;
  /** Which of several instances this is; drawn by chance unless given. */
  readonly identity?: string;
  readonly loop: Loop;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Back-off and retries are the work queue's: within a process nothing is gained by trying the same request again. */
export function manage({ lease, ...group }: LoopGroup, surroundings: LoopSurroundings): Manager {
  const { transport, caches, ...others } = surroundings;
  const client = others.client ?? createClient(transport, { loop: others.loop, retry: "none" });
  const common = { ...group, ...others, client, ...(lease !== undefined && { leaderElection: lease }) };
  return createManager(caches === undefined ? { ...common, transport } : { ...common, caches });
}
