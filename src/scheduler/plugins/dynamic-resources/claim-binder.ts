/** Writes into claims which devices they got and for whom, and waits until devices that have to be made ready are. */

import { isApiError } from "../../../api/api-error.ts";
import {
  type AllocationResult,
  ResourceClaim,
  type ResourceClaimStatus,
} from "../../../api/generated/types/resource-v1.ts";
import { formatTime } from "../../../api/time.ts";
import { isReservedFor } from "../../../resources/device/pod-claim.ts";
import { untilDone } from "../../framework/change-wait.ts";
import type { PluginContext } from "../../framework/plugin.ts";
import type { NodeInfo } from "../../snapshot/node-info.ts";
import type { PodInfo } from "../../snapshot/pod-info.ts";
import { hasBindingConditions, isOverdue, READY_TIMEOUT_MS, readinessOf } from "./binding-conditions.ts";
import type { ClaimLedger } from "./claim-ledger.ts";
import { claimKey } from "./wish.ts";

/** Held while a claim has devices, so that it does not go before it gave them back. */
const PROTECTION = "resource.kubernetes.io/delete-protection";
/** Others write claims too. Who loses this often tries with the pod again. */
const TRIES_MAX = 5;

/** A claim, and what it is to get unless it has it. */
export interface ClaimTask {
  claim: ResourceClaim;
  readonly allocation: AllocationResult | undefined;
}

export class ClaimBinder {
  readonly #context: PluginContext;
  readonly #ledger: ClaimLedger;

  constructor(context: PluginContext, ledger: ClaimLedger) {
    this.#context = context;
    this.#ledger = ledger;
  }

  async bind(pod: PodInfo, tasks: readonly ClaimTask[]): Promise<void> {
    for (const task of tasks) if (!isReservedFor(task.claim, pod.pod)) await this.#bindOne(pod, task);
  }

  /** The pod does not come after all: others may have what was promised to it; what it has in writing it no longer uses. */
  async release(pod: PodInfo, tasks: readonly ClaimTask[]): Promise<void> {
    for (const { claim, allocation } of tasks) if (allocation !== undefined) this.#ledger.settle(claim);
    for (const { claim } of tasks) {
      if (claim.status.allocation === undefined || !isReservedFor(claim, pod.pod)) continue;
      const reservedFor = [{ $patch: "delete", uid: pod.uid }];
      const changes = { metadata: { uid: claim.metadata.uid }, status: { reservedFor } };
      const claims = this.#context.client(ResourceClaim);
      try {
        const written = await this.#context.write(() =>
          claims.patch(claim, { type: "strategic", changes }, { subresource: "status" }),
        );
        this.#ledger.settle(claim, written);
      } catch (error) {
        if (!isApiError(error, "NotFound") && !isApiError(error, "Conflict")) throw error;
      }
    }
  }

  /** Takes the devices of a claim that nobody uses. */
  async deallocate(claim: ResourceClaim): Promise<void> {
    const written = await this.#writeStatus(claim, {});
    this.#ledger.settle(claim, written);
  }

  async #bindOne(pod: PodInfo, task: ClaimTask): Promise<void> {
    const { allocation, claim } = task;
    try {
      task.claim = await this.#write(pod, task);
      this.#ledger.settle(claim, task.claim);
    } catch (error) {
      if (allocation !== undefined) this.#ledger.settle(claim);
      throw error;
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
    const allocationTimestamp = formatTime(BigInt(Math.floor(loop.now())) * 1000n);
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

  /** Resolves when all devices are ready; rejects when one will not be. */
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
      const claim = this.#ledger.find({ namespace, name });
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
