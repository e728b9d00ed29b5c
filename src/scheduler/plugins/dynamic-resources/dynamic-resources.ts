/**
 * Holds pods to nodes on which their device claims have devices or can be given some. Devices are promised when the node is chosen, and written into
 * the claims before the pod is bound.
 */

import { DeviceClass, type ResourceClaim, ResourceSlice } from "../../../api/generated/types/resource-v1.ts";
import { isReservedFor } from "../../../resources/device/pod-claim.ts";
import { matchesNodeSelector } from "../../../resources/pod/node-selection.ts";
import { isSame } from "../../../resources/value-rules.ts";
import { ALWAYS, type Reactivations } from "../../framework/cluster-event.ts";
import {
  type Cycle,
  type FilterAnswer,
  type PluginContext,
  type PluginFactory,
  reject,
  rejectAll,
  type Relief,
  type Rejection,
  type SchedulerPlugin,
} from "../../framework/plugin.ts";
import type { NodeInfo } from "../../snapshot/node-info.ts";
import type { PodInfo } from "../../snapshot/pod-info.ts";
import { isOverdue, readinessOf } from "./binding-conditions.ts";
import { ClaimAllocator } from "./claim-allocator.ts";
import { ClaimBinder, type ClaimTask } from "./claim-binder.ts";
import { ClaimLedger } from "./claim-ledger.ts";
import { LatestPools } from "./device-pools.ts";
import { DeviceSelectors } from "./device-selectors.ts";
import { DevicesInUse } from "./devices-in-use.ts";
import { hasResourceClaims, readResourceClaims } from "./pod-resource-claims.ts";
import { claimKey, readWishes } from "./wish.ts";

const NAME = "DynamicResources";
const UNAVAILABLE = reject(NAME, "resourceclaim not available on the node", false);

/** What is known of a pod's claims in one cycle. */
interface CycleClaims {
  readonly claims: readonly ResourceClaim[];
  /** Of those that have no devices yet; undefined when all have. */
  readonly allocator: ClaimAllocator | undefined;
  /** Claims whose devices cannot be used from some node. */
  readonly unavailable: Set<ResourceClaim>;
  /** From the choice of the node on. */
  tasks: readonly ClaimTask[];
}

export const dynamicResources: PluginFactory = (context) => new DynamicResources(context);

class DynamicResources implements SchedulerPlugin {
  readonly name = NAME;
  readonly scope = "cluster";
  readonly reactivations: Reactivations;
  readonly #context: PluginContext;
  readonly #ledger: ClaimLedger;
  readonly #binder: ClaimBinder;
  readonly #selectors = new DeviceSelectors();
  readonly #pools = new LatestPools();
  readonly #cycles = new WeakMap<Cycle, CycleClaims | Rejection>();

  constructor(context: PluginContext) {
    this.#context = context;
    this.#ledger = new ClaimLedger(context.cache);
    this.#binder = new ClaimBinder(context, this.#ledger);
    this.reactivations = {
      nodeAdded: ALWAYS,
      nodeLabels: ALWAYS,
      resourceSlice: ALWAYS,
      deviceClass: ALWAYS,
      resourceClaim: (pod, { before, after }) => this.#isHopeful(pod, before, after),
      podUnreserved: (_, { pod }) => hasResourceClaims(pod),
    };
  }

  holds(pod: PodInfo): boolean {
    return hasResourceClaims(pod) && this.#read(pod).type === "waiting";
  }

  filter(cycle: Cycle): FilterAnswer {
    if (!hasResourceClaims(cycle.pod)) return undefined;
    const known = this.#cycles.get(cycle) ?? this.#begin(cycle.pod);
    this.#cycles.set(cycle, known);
    if ("plugin" in known) return rejectAll(known);
    if (known.claims.length === 0) return undefined;
    return { type: "check", check: (node) => this.#check(known, node) };
  }

  score(cycle: Cycle): ReturnType<NonNullable<SchedulerPlugin["score"]>> {
    const allocator = this.#of(cycle)?.allocator;
    if (allocator?.hasAlternatives !== true) return undefined;
    return { score: ({ name }) => allocator.score(name), normal: "proportional" };
  }

  relieve(cycle: Cycle): Relief {
    const known = this.#of(cycle);
    if (known === undefined) return { message: "no new claims to deallocate" };
    const idle = [...known.unavailable].filter((claim) => isIdle(claim, cycle.pod));
    const claim = idle[idle.length > 1 ? this.#context.loop.random("claims").below(idle.length) : 0];
    if (claim === undefined) return { message: "still not schedulable" };
    return { message: "deallocation of ResourceClaim completed", done: this.#binder.deallocate(claim) };
  }

  reserve(cycle: Cycle, { name }: NodeInfo): void {
    const known = this.#of(cycle);
    if (known === undefined) return;
    const { allocator, claims } = known;
    const shares = this.#context.loop.random("shares");
    const results = allocator?.resultsOn(name, () => shares.uuid()) ?? [];
    known.tasks = claims.map((claim) => {
      const allocation = results[allocator?.claims.indexOf(claim) ?? -1];
      if (allocation !== undefined) this.#ledger.promise(claim, allocation);
      return { claim, allocation };
    });
  }

  unreserve(cycle: Cycle): void | Promise<void> {
    const tasks = this.#of(cycle)?.tasks ?? [];
    if (tasks.length > 0) return this.#binder.release(cycle.pod, tasks);
  }

  hasPreBind(cycle: Cycle): boolean {
    return this.#of(cycle) !== undefined;
  }

  async preBind(cycle: Cycle, node: NodeInfo, signal: AbortSignal): Promise<void> {
    const tasks = this.#of(cycle)?.tasks ?? [];
    await this.#binder.bind(cycle.pod, tasks);
    await this.#binder.untilReady(cycle.pod, { node, tasks, signal });
  }

  /** Undefined for a pod that has no claims, or waits for them. */
  #of(cycle: Cycle): CycleClaims | undefined {
    const known = this.#cycles.get(cycle);
    return known === undefined || "plugin" in known || known.claims.length === 0 ? undefined : known;
  }

  #read(pod: PodInfo): ReturnType<typeof readResourceClaims> {
    return readResourceClaims(pod, (key) => this.#ledger.find(key));
  }

  /** What does not depend on the node. */
  #begin(pod: PodInfo): CycleClaims | Rejection {
    const read = this.#read(pod);
    if (read.type === "waiting") return reject(NAME, read.reason, false);
    const { cache } = this.#context;
    const open = read.claims.filter(({ status }) => status.allocation === undefined);
    const promised = open.find((claim) => this.#ledger.isPromised(claim));
    if (promised !== undefined) {
      const reason = `resource claim ${claimKey(promised)} is in the process of being allocated`;
      return reject(NAME, reason, false);
    }
    const wishes = readWishes(open, (name) => cache(DeviceClass).find({ name }));
    if (wishes.type === "missing") return reject(NAME, wishes.reason, false);
    const makeAllocator = (): ClaimAllocator =>
      new ClaimAllocator({
        claims: open,
        wishes: wishes.wishes,
        pools: this.#pools.of(cache(ResourceSlice).list()),
        inUse: new DevicesInUse(this.#ledger.allocations()),
        selectors: this.#selectors,
      });
    const allocator = open.length === 0 ? undefined : makeAllocator();
    return { claims: read.claims, allocator, unavailable: new Set(), tasks: [] };
  }

  #check({ claims, allocator, unavailable }: CycleClaims, { node }: NodeInfo): Rejection | undefined {
    const missing = claims.filter(({ status: { allocation } }) => {
      const selector = allocation?.nodeSelector;
      return selector !== undefined && !matchesNodeSelector(selector, node);
    });
    const useless = claims.filter((claim) => this.#isUseless(claim));
    const reason = tryAllocator(allocator, node);
    if (reason !== undefined) return reject(NAME, reason, false);
    if (missing.length + useless.length === 0) return undefined;
    for (const claim of [...missing, ...useless]) unavailable.add(claim);
    return UNAVAILABLE;
  }

  /** Its devices were not made ready, and will not be. */
  #isUseless(claim: ResourceClaim): boolean {
    const { type } = readinessOf(claim);
    return type === "failed" || (type === "pending" && isOverdue(claim, this.#context.loop.now()));
  }

  /** Whether a change of a claim can help a pod that waits. */
  #isHopeful(pod: PodInfo, before: ResourceClaim | undefined, after: ResourceClaim | undefined): boolean {
    const read = this.#read(pod);
    if (read.type === "waiting") return false;
    if (before?.status.allocation !== undefined && after?.status.allocation === undefined) return true;
    if (!read.claims.some(({ metadata }) => metadata.uid === after?.metadata.uid)) return false;
    return before === undefined || !isSame(before.status, after?.status);
  }
}

function tryAllocator(allocator: ClaimAllocator | undefined, node: NodeInfo["node"]): string | undefined {
  try {
    return allocator?.tryNode(node);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`running ${JSON.stringify(NAME)} filter plugin: ${message}`, { cause: error });
  }
}

/** Nobody uses it but the pod, which cannot. */
function isIdle(claim: ResourceClaim, { pod }: PodInfo): boolean {
  const users = claim.status.reservedFor?.length ?? 0;
  return users === 0 || (users === 1 && isReservedFor(claim, pod));
}
