/**
 * Restricts pods to nodes where their device claims are allocated or can be.
 *
 * Devices are promised when the node is chosen, and written into the claims before the pod is bound.
 */

import { DeviceClass, ResourceClaim, ResourceSlice } from "../../../api/generated/types/resource-v1.ts";
import { errorText } from "../../../base/error-text.ts";
import { MADE_FOR_RESOURCES } from "../../../resources/device/extended-resource.ts";
import { isReservedFor } from "../../../resources/device/pod-claim.ts";
import { matchesNodeSelector } from "../../../resources/pod/node-selection.ts";
import { isSame } from "../../../resources/rules/value-rules.ts";
import { isControlledBy } from "../../../runtime/refs/owner-reference.ts";
import { ALWAYS, type QueueingHintFunctions } from "../../framework/cluster-event.ts";
import {
  type SchedulingCycle,
  type FilterAnswer,
  type PluginContext,
  type PluginFactory,
  reject,
  rejectAll,
  type PostFilterResult,
  type Rejection,
  type SchedulerPlugin,
} from "../../framework/scheduler-plugin.ts";
import type { NodeInfo } from "../../snapshot/node-info.ts";
import type { PodInfo } from "../../snapshot/pod-info.ts";
import { AssumedClaims } from "./assumed-claims.ts";
import { isOverdue, readinessOf } from "./binding-readiness.ts";
import { ClaimAllocator } from "./claim-allocator.ts";
import { ClaimBinder, type ClaimTask } from "./claim-binder.ts";
import { claimKey, readClaimRequests, type ClaimRequests } from "./claim-requests.ts";
import { ClaimVariants } from "./claim-variants.ts";
import { classesProviding } from "./device-class-names.ts";
import { LatestPools } from "./device-pools.ts";
import { DeviceSelectors } from "./device-selectors.ts";
import type { DevicesInUse } from "./devices-in-use.ts";
import { hasResourceClaims, readResourceClaims } from "./pod-resource-claims.ts";

const NAME = "DynamicResources";
const UNAVAILABLE = reject(NAME, "resourceclaim not available on the node", false);
const STALE_CLAIM = reject(NAME, "cannot schedule extended resource claim", false);

interface CycleClaims {
  /** Existing claims, without the special one for extended resources. */
  readonly claims: readonly ResourceClaim[];
  readonly variants: ClaimVariants;
  /** Special claim of an earlier failed cycle, which may not suit the current choice. */
  readonly staleClaim: ResourceClaim | undefined;
  /** Claims whose devices are unusable on some node. */
  readonly unavailable: Set<ResourceClaim>;
  /** Set once the node is chosen. */
  tasks: readonly ClaimTask[];
}

export const dynamicResources: PluginFactory = (context) => new DynamicResources(context);

class DynamicResources implements SchedulerPlugin {
  readonly name = NAME;
  readonly scope = "cluster";
  readonly queueingHints: QueueingHintFunctions;
  readonly #context: PluginContext;
  readonly #assumed: AssumedClaims;
  readonly #binder: ClaimBinder;
  readonly #selectors = new DeviceSelectors();
  readonly #pools = new LatestPools();
  readonly #cycles = new WeakMap<SchedulingCycle, CycleClaims | Rejection>();

  constructor(context: PluginContext) {
    this.#context = context;
    this.#assumed = new AssumedClaims(context.cache);
    this.#binder = new ClaimBinder(context, this.#assumed);
    this.queueingHints = {
      nodeAdded: ALWAYS,
      nodeLabels: ALWAYS,
      resourceSlice: ALWAYS,
      deviceClass: (_, { after }) => after !== undefined,
      resourceClaim: (pod, { before, after }) => this.#mayHelp(pod, before, after),
      podUnreserved: (_, { pod }) =>
        hasResourceClaims(pod) || classesProviding(pod.shape, context.cache).size > 0,
    };
  }

  holds(pod: PodInfo): boolean {
    return hasResourceClaims(pod) && this.#read(pod).type === "waiting";
  }

  filter(cycle: SchedulingCycle): FilterAnswer {
    if (!hasResourceClaims(cycle.pod) && cycle.pod.shape.requests.others.size === 0) return undefined;
    const known = this.#cycles.get(cycle) ?? this.#begin(cycle.pod);
    if (known === undefined) return undefined;
    this.#cycles.set(cycle, known);
    if ("plugin" in known) return rejectAll(known);
    return { type: "check", check: (node) => this.#check(known, node) };
  }

  score(cycle: SchedulingCycle): ReturnType<NonNullable<SchedulerPlugin["score"]>> {
    const variants = this.#of(cycle)?.variants;
    if (variants === undefined) return undefined;
    if (![...variants.all()].some(({ allocator }) => allocator?.hasAlternatives === true)) return undefined;
    return { score: (node) => variants.on(node).allocator?.score(node.name) ?? 0, normal: "proportional" };
  }

  postFilter(cycle: SchedulingCycle): PostFilterResult {
    const known = this.#of(cycle);
    if (known === undefined) return { message: "no new claims to deallocate" };
    if (known.staleClaim !== undefined) {
      return { message: "deletion of ResourceClaim completed", done: this.#binder.remove(known.staleClaim) };
    }
    const idle = [...known.unavailable].filter((claim) => isIdle(claim, cycle.pod));
    const claim = idle[idle.length > 1 ? this.#context.loop.random("claims").below(idle.length) : 0];
    if (claim === undefined) return { message: "still not schedulable" };
    return { message: "deallocation of ResourceClaim completed", done: this.#binder.deallocate(claim) };
  }

  reserve(cycle: SchedulingCycle, node: NodeInfo): void {
    const known = this.#of(cycle);
    if (known === undefined) return;
    const { allocator, special } = known.variants.on(node);
    const shares = this.#context.loop.random("shares");
    const results = allocator?.resultsOn(node.name, () => shares.uuid()) ?? [];
    const allocationOf = (claim: ResourceClaim): ClaimTask["allocation"] => {
      const allocation = results[allocator?.claims.indexOf(claim) ?? -1];
      if (allocation !== undefined) this.#assumed.promise(claim, allocation);
      return allocation;
    };
    const tasks: ClaimTask[] = known.claims.map((claim) => ({ claim, allocation: allocationOf(claim) }));
    if (special !== undefined) {
      tasks.push({ claim: special.claim, allocation: allocationOf(special.claim), special });
    }
    known.tasks = tasks;
  }

  unreserve(cycle: SchedulingCycle): void | Promise<void> {
    const tasks = this.#of(cycle)?.tasks ?? [];
    if (tasks.length > 0) return this.#binder.release(cycle.pod, tasks);
  }

  hasPreBind(cycle: SchedulingCycle): boolean {
    return (this.#of(cycle)?.tasks.length ?? 0) > 0;
  }

  async preBind(cycle: SchedulingCycle, node: NodeInfo, signal: AbortSignal): Promise<void> {
    const tasks = this.#of(cycle)?.tasks ?? [];
    await this.#binder.bind(cycle.pod, tasks, signal);
    await this.#binder.untilReady(cycle.pod, { node, tasks, signal });
  }

  /** Undefined for a pod without devices, or one that waits for its claims. */
  #of(cycle: SchedulingCycle): CycleClaims | undefined {
    const known = this.#cycles.get(cycle);
    return known === undefined || "plugin" in known ? undefined : known;
  }

  #read(pod: PodInfo): ReturnType<typeof readResourceClaims> {
    return readResourceClaims(pod, (key) => this.#assumed.find(key));
  }

  /** Node-independent state; undefined for a pod without devices. */
  #begin(pod: PodInfo): CycleClaims | Rejection | undefined {
    const read = this.#read(pod);
    if (read.type === "waiting") return reject(NAME, read.reason, false);
    const { claims } = read;
    const { cache } = this.#context;
    const classes = classesProviding(pod.shape, cache);
    if (claims.length + classes.size === 0) return undefined;
    const open = claims.filter(({ status }) => status.allocation === undefined);
    const promised = open.find((claim) => this.#assumed.isPromised(claim));
    if (promised !== undefined) {
      const reason = `resource claim ${claimKey(promised)} is in the process of being allocated`;
      return reject(NAME, reason, false);
    }
    const requests = this.#readRequests(open);
    if (requests.type === "missing") return reject(NAME, requests.reason, false);
    const staleClaim = classes.size === 0 ? undefined : this.#findStaleClaim(pod);
    const variants = new ClaimVariants({ pod, classes, makeAllocator: this.#allocatorMaker(open) });
    return { claims, variants, staleClaim, unavailable: new Set(), tasks: [] };
  }

  #readRequests(claims: readonly ResourceClaim[]): ClaimRequests {
    const { cache } = this.#context;
    return readClaimRequests(claims, (name) => cache(DeviceClass).find({ name }));
  }

  /** Runs within one step, so the time of the first call does not matter. */
  #allocatorMaker(
    open: readonly ResourceClaim[],
  ): (special: ResourceClaim | undefined) => ClaimAllocator | undefined {
    let inUse: DevicesInUse | undefined;
    return (special) => {
      const claims = special === undefined ? open : [...open, special];
      const requests = this.#readRequests(claims);
      if (claims.length === 0 || requests.type === "missing") return undefined;
      inUse ??= this.#assumed.devicesInUse();
      const pools = this.#pools.of(this.#context.cache(ResourceSlice).list());
      return new ClaimAllocator({
        claims,
        requests: requests.requests,
        pools,
        inUse,
        selectors: this.#selectors,
      });
    };
  }

  #findStaleClaim({ pod }: PodInfo): ResourceClaim | undefined {
    const owned = this.#context.cache(ResourceClaim).ownedBy(pod);
    return owned.find(({ metadata }) => metadata.annotations?.[MADE_FOR_RESOURCES] === "true");
  }

  #check({ claims, variants, staleClaim, unavailable }: CycleClaims, info: NodeInfo): Rejection | undefined {
    const { node } = info;
    const missing = claims.filter(({ status: { allocation } }) => {
      const selector = allocation?.nodeSelector;
      return selector !== undefined && !matchesNodeSelector(selector, node);
    });
    const useless = claims.filter((claim) => this.#hasFailed(claim));
    if (staleClaim !== undefined) return STALE_CLAIM;
    const reason = tryAllocator(variants.on(info).allocator, node);
    if (reason !== undefined) return reject(NAME, reason, false);
    if (missing.length + useless.length === 0) return undefined;
    for (const claim of [...missing, ...useless]) unavailable.add(claim);
    return UNAVAILABLE;
  }

  /** True if the claim's devices failed to become ready. */
  #hasFailed(claim: ResourceClaim): boolean {
    const { type } = readinessOf(claim);
    return type === "failed" || (type === "pending" && isOverdue(claim, this.#context.loop.now()));
  }

  /** True if the change of a claim may help a waiting pod. */
  #mayHelp(pod: PodInfo, before: ResourceClaim | undefined, after: ResourceClaim | undefined): boolean {
    const read = this.#read(pod);
    if (read.type === "waiting") return false;
    if (before?.status.allocation !== undefined && after?.status.allocation === undefined) return true;
    if (before !== undefined && after === undefined && isControlledBy(before, pod.pod)) return true;
    if (!read.claims.some(({ metadata }) => metadata.uid === after?.metadata.uid)) return false;
    return before === undefined || !isSame(before.status, after?.status);
  }
}

function tryAllocator(allocator: ClaimAllocator | undefined, node: NodeInfo["node"]): string | undefined {
  try {
    return allocator?.tryNode(node);
  } catch (error) {
    const message = errorText(error);
    throw new Error(`running ${JSON.stringify(NAME)} filter plugin: ${message}`, { cause: error });
  }
}

/** True if no other pod uses the claim. */
function isIdle(claim: ResourceClaim, { pod }: PodInfo): boolean {
  const users = claim.status.reservedFor?.length ?? 0;
  return users === 0 || (users === 1 && isReservedFor(claim, pod));
}
