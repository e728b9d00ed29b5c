/** Writes allocations and users into claims, and waits until devices are ready. */

import type { Manifest } from "../../../api/api-object.ts";
import { isApiError } from "../../../api/errors/api-error.ts";
import { Pod } from "../../../api/generated/types/core-v1.ts";
import {
  type AllocationResult,
  ResourceClaim,
  type ResourceClaimStatus,
} from "../../../api/generated/types/resource-v1.ts";
import { timeText } from "../../../api/values/time.ts";
import { errorText } from "../../../base/error-text.ts";
import { MADE_FOR_RESOURCES } from "../../../resources/device/extended-resource.ts";
import { isReservedFor } from "../../../resources/device/pod-claim.ts";
import { untilDone } from "../../framework/change-wait.ts";
import type { PluginContext } from "../../framework/scheduler-plugin.ts";
import type { NodeInfo } from "../../snapshot/node-info.ts";
import type { PodInfo } from "../../snapshot/pod-info.ts";
import type { AssumedClaims } from "./assumed-claims.ts";
import { hasBindingConditions, isOverdue, READY_TIMEOUT_MS, readinessOf } from "./binding-readiness.ts";
import { claimKey } from "./claim-requests.ts";
import type { SpecialClaim } from "./claim-variants.ts";

/** Finalizer of allocated claims: a claim must free its devices before it is deleted. */
const PROTECTION = "resource.kubernetes.io/delete-protection";
/** Upper bound of tries against concurrent writers; afterwards the pod is retried. */
const TRIES_MAX = 5;
/** Upstream's timeout. */
const SHOWN_TIMEOUT_MS = 120_000;

/** A claim with its planned allocation; undefined if it is already allocated. */
export interface ClaimTask {
  claim: ResourceClaim;
  readonly allocation: AllocationResult | undefined;
  /** Set if the claim must be created first. */
  readonly special?: SpecialClaim;
}

export class ClaimBinder {
  readonly #context: PluginContext;
  readonly #assumed: AssumedClaims;

  constructor(context: PluginContext, assumed: AssumedClaims) {
    this.#context = context;
    this.#assumed = assumed;
  }

  async bind(pod: PodInfo, tasks: readonly ClaimTask[], signal: AbortSignal): Promise<void> {
    for (const task of tasks) {
      const { special } = task;
      if (special !== undefined) await this.#bindSpecial(pod, { task, special, signal });
      else if (!isReservedFor(task.claim, pod.pod)) await this.#bindOne(pod, task);
    }
  }

  /** Undoes a failed binding: cancels promised devices and removes the pod from written claims. */
  async release(pod: PodInfo, tasks: readonly ClaimTask[]): Promise<void> {
    for (const { claim, allocation, special } of tasks) {
      if (allocation !== undefined) this.#assumed.settle(special?.claim ?? claim);
    }
    for (const { claim, special } of tasks) {
      if (special === undefined) await this.#unreserve(pod, claim);
      else if (claim !== special.claim) await this.remove(claim);
    }
  }

  async #unreserve(pod: PodInfo, claim: ResourceClaim): Promise<void> {
    if (claim.status.allocation === undefined || !isReservedFor(claim, pod.pod)) return;
    const reservedFor = [{ $patch: "delete", uid: pod.uid }];
    const changes = { metadata: { uid: claim.metadata.uid }, status: { reservedFor } };
    const claims = this.#context.client(ResourceClaim);
    try {
      const written = await this.#context.write(() =>
        claims.patch(claim, { type: "strategic", changes }, { subresource: "status" }),
      );
      this.#assumed.settle(claim, written);
    } catch (error) {
      if (!isApiError(error, "NotFound") && !isApiError(error, "Conflict")) throw error;
    }
  }

  /** Deletes a claim that was created for a pod whose binding failed, and frees its devices. */
  async remove(claim: ResourceClaim): Promise<void> {
    const { uid, finalizers = [] } = claim.metadata;
    const claims = this.#context.client(ResourceClaim);
    const kept = finalizers.filter((name) => name !== PROTECTION);
    const changes = { metadata: { uid, finalizers: kept } };
    try {
      if (kept.length < finalizers.length) {
        await this.#context.write(() => claims.patch(claim, { type: "merge", changes }));
      }
      await this.#context.write(() => claims.delete(claim));
    } catch (error) {
      if (!isApiError(error, "NotFound")) throw error;
    }
  }

  /** Frees the devices of an unused claim. */
  async deallocate(claim: ResourceClaim): Promise<void> {
    const written = await this.#writeStatus(claim, {});
    this.#assumed.settle(claim, written);
  }

  async #bindOne(pod: PodInfo, task: ClaimTask): Promise<void> {
    const { allocation, claim } = task;
    try {
      task.claim = await this.#write(pod, task);
      this.#assumed.settle(claim, task.claim);
    } catch (error) {
      if (allocation !== undefined) this.#assumed.settle(claim);
      throw error;
    }
  }

  /** The allocation stays promised until the caches show the claim: before that, no other record of it exists. */
  async #bindSpecial(pod: PodInfo, { task, special, signal }: SpecialTask): Promise<void> {
    task.claim = await this.#makeClaim(pod, special);
    task.claim = await this.#write(pod, task);
    const { uid, name } = task.claim.metadata;
    await untilDone(this.#context, {
      isDone: () => this.#assumed.find({ namespace: pod.namespace, name })?.metadata.uid === uid,
      timeoutMs: SHOWN_TIMEOUT_MS,
      timeoutMessage: `claim ${claimKey(task.claim)} is not shown`,
      signal,
    });
    this.#assumed.settle(special.claim);
    this.#assumed.settle(task.claim, task.claim);
    const shown = { requestMappings: special.mappings, resourceClaimName: name };
    const changes = { metadata: { uid: pod.uid }, status: { extendedResourceClaimStatus: shown } };
    const pods = this.#context.client(Pod);
    await this.#context.write(() =>
      pods.patch(pod.pod, { type: "strategic", changes }, { subresource: "status" }),
    );
  }

  async #makeClaim(pod: PodInfo, { claim }: SpecialClaim): Promise<ResourceClaim> {
    const claims = this.#context.client(ResourceClaim);
    try {
      return await this.#context.write(() => claims.create(specialManifest(pod, claim)));
    } catch (error) {
      const why = errorText(error);
      throw new Error(`create claim for extended resources ${pod.namespace}/: ${why}`, { cause: error });
    }
  }

  async #write(pod: PodInfo, { claim, allocation }: ClaimTask): Promise<ResourceClaim> {
    const claims = this.#context.client(ResourceClaim);
    let newest = claim;
    for (let tries = 1; ; tries++) {
      try {
        return await this.#writeOnce(pod, newest, allocation);
      } catch (error) {
        if (!isApiError(error, "Conflict") || tries === TRIES_MAX) throw error;
        newest = await claims.get(claim);
      }
    }
  }

  async #writeOnce(
    pod: PodInfo,
    claim: ResourceClaim,
    allocation: AllocationResult | undefined,
  ): Promise<ResourceClaim> {
    const { loop } = this.#context;
    const { status, metadata } = claim;
    const key = claimKey(claim);
    if (metadata.deletionTimestamp !== undefined) throw new Error(`claim ${key} got deleted in the meantime`);
    const reservedFor = [...(status.reservedFor ?? []), { resource: "pods", name: pod.name, uid: pod.uid }];
    if (allocation === undefined) {
      return await this.#writeStatus(claim, { ...status, reservedFor });
    }
    if (status.allocation !== undefined) {
      throw new Error(`claim ${key} got allocated elsewhere in the meantime`);
    }
    const safe = await this.#protect(claim);
    const allocationTimestamp = timeText(loop.now());
    const given = { ...allocation, allocationTimestamp };
    return await this.#writeStatus(safe, { ...safe.status, allocation: given, reservedFor });
  }

  async #protect(claim: ResourceClaim): Promise<ResourceClaim> {
    const { finalizers = [], resourceVersion } = claim.metadata;
    if (finalizers.includes(PROTECTION)) return claim;
    const changes = { metadata: { resourceVersion, finalizers: [...finalizers, PROTECTION] } };
    const { client } = this.#context;
    return await this.#context.write(() => client(ResourceClaim).patch(claim, { type: "merge", changes }));
  }

  #writeStatus(claim: ResourceClaim, status: ResourceClaimStatus): Promise<ResourceClaim> {
    const { client } = this.#context;
    return this.#context.write(() => client(ResourceClaim).updateStatus(claim, status));
  }

  /** Resolves when all devices are ready; rejects if one fails or times out. */
  async untilReady(pod: PodInfo, { node, tasks, signal }: ReadyWait): Promise<void> {
    if (!tasks.some(({ claim }) => hasBindingConditions(claim))) return;
    this.#context.event(pod.pod, {
      type: "Normal",
      reason: "BindingConditionsPending",
      action: "Scheduling",
      message: `waiting for binding conditions for device on node ${node.name}`,
      reporter: pod.schedulerName,
    });
    await untilDone(this.#context, {
      isDone: () => this.#areReady(pod, tasks),
      timeoutMs: READY_TIMEOUT_MS,
      timeoutMessage: "device binding timeout",
      signal,
    });
  }

  #areReady(pod: PodInfo, tasks: readonly ClaimTask[]): boolean {
    if (this.#context.snapshot.findPod(pod.key)?.pod.uid !== pod.uid) {
      throw new Error(`pod ${pod.key} is gone`);
    }
    let areReady = true;
    for (const task of tasks) {
      const { namespace = "", name } = task.claim.metadata;
      const claim = this.#assumed.find({ namespace, name });
      if (claim === undefined) throw new Error(`resourceclaim.resource.k8s.io "${name}" not found`);
      task.claim = claim;
      const readiness = readinessOf(claim);
      if (readiness.type === "failed") throw new Error(readiness.message);
      if (readiness.type === "ready") continue;
      if (isOverdue(claim, this.#context.loop.now())) throw new Error(`claim ${name} binding timeout`);
      areReady = false;
    }
    return areReady;
  }
}

interface ReadyWait {
  readonly node: NodeInfo;
  readonly tasks: readonly ClaimTask[];
  readonly signal: AbortSignal;
}

interface SpecialTask {
  readonly task: ClaimTask;
  readonly special: SpecialClaim;
  readonly signal: AbortSignal;
}

/** The pod owns the claim, so that it is deleted with the pod. */
function specialManifest(
  { name, uid, namespace }: PodInfo,
  { spec }: ResourceClaim,
): Manifest<ResourceClaim> {
  return {
    metadata: {
      generateName: `${name}-extended-resources-`,
      namespace,
      annotations: { [MADE_FOR_RESOURCES]: "true" },
      finalizers: [PROTECTION],
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name, uid, controller: true }],
    },
    spec,
  };
}
