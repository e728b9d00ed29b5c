/** Carries out the plans for pods' claims: reserves volumes, writes, and waits until the claims are bound. */

import { PersistentVolume, PersistentVolumeClaim } from "../../api/generated/types/core-v1.ts";
import { quoted } from "../../api/values/message-text.ts";
import { ownValue } from "../../resources/rules/value-rules.ts";
import { untilDone } from "../framework/change-wait.ts";
import type { PluginContext } from "../framework/scheduler-plugin.ts";
import type { NodeInfo } from "../snapshot/node-info.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";
import { claimKey, isBound, isClaimedBy, SELECTED_NODE } from "./pod-volume-claims.ts";
import { isReachable } from "./volume-match.ts";

export type ClaimPlan =
  | { readonly type: "bind"; readonly claim: PersistentVolumeClaim; readonly volume: PersistentVolume }
  /** The node is written to the claim, for the provisioner. */
  | { readonly type: "provision"; readonly claim: PersistentVolumeClaim };

/** Upstream's timeout; provisioning a volume can take minutes. */
const BIND_TIMEOUT_MS = 600_000;

const BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller";

export class VolumeBinder {
  readonly #context: PluginContext;
  /** Plans by pod uid. */
  readonly #plans = new Map<string, readonly ClaimPlan[]>();
  /** Keys of the claims for which volumes are reserved, by volume name. */
  readonly #taken = new Map<string, string>();

  constructor(context: PluginContext) {
    this.#context = context;
  }

  isTaken({ metadata }: PersistentVolume, claim: PersistentVolumeClaim): boolean {
    const holder = this.#taken.get(metadata.name);
    return holder !== undefined && holder !== claimKey(claim);
  }

  has(podUid: string): boolean {
    return this.#plans.has(podUid);
  }

  reserve(podUid: string, plans: readonly ClaimPlan[]): void {
    this.#plans.set(podUid, plans);
    for (const plan of plans) {
      if (plan.type === "bind") this.#taken.set(plan.volume.metadata.name, claimKey(plan.claim));
    }
  }

  release(podUid: string): void {
    for (const plan of this.#plans.get(podUid) ?? []) {
      if (plan.type === "bind") this.#taken.delete(plan.volume.metadata.name);
    }
    this.#plans.delete(podUid);
  }

  async bind(pod: PodInfo, node: NodeInfo, signal: AbortSignal): Promise<void> {
    const plans = this.#plans.get(pod.uid) ?? [];
    for (const plan of plans) {
      if (plan.type === "bind") await this.#claimVolume(plan.claim, plan.volume);
      else await this.#selectNode(plan.claim, node.name);
    }
    const wait = new ClaimWait({ pod, node, plans }, this.#context);
    await wait.run(signal);
    this.release(pod.uid);
  }

  /** The server refuses the patch if the volume changed since the choice. */
  async #claimVolume({ metadata }: PersistentVolumeClaim, volume: PersistentVolume): Promise<void> {
    const { name, namespace, uid, resourceVersion } = metadata;
    const claimRef = {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      name,
      namespace,
      uid,
      resourceVersion,
    };
    const changes = {
      metadata: {
        resourceVersion: volume.metadata.resourceVersion,
        annotations: { [BOUND_BY_CONTROLLER]: "yes" },
      },
      spec: { claimRef },
    };
    await this.#context.client(PersistentVolume).patch(volume, { type: "merge", changes });
  }

  async #selectNode(claim: PersistentVolumeClaim, nodeName: string): Promise<void> {
    if (ownValue(claim.metadata.annotations, SELECTED_NODE) === nodeName) return;
    const changes = {
      metadata: {
        resourceVersion: claim.metadata.resourceVersion,
        annotations: { [SELECTED_NODE]: nodeName },
      },
    };
    await this.#context.client(PersistentVolumeClaim).patch(claim, { type: "merge", changes });
  }
}

interface Waiting {
  readonly pod: PodInfo;
  readonly node: NodeInfo;
  readonly plans: readonly ClaimPlan[];
}

/** Waits for the claims of one pod, at most until the timeout or the pod's deletion. */
class ClaimWait {
  readonly #pod: PodInfo;
  readonly #plans: readonly ClaimPlan[];
  readonly #node: NodeInfo;
  readonly #context: PluginContext;
  /** Claims whose selected node appeared in the cache. If it disappears later, the provisioner rejected the node. */
  readonly #shown = new Set<string>();

  constructor({ pod, node, plans }: Waiting, context: PluginContext) {
    this.#pod = pod;
    this.#plans = plans;
    this.#node = node;
    this.#context = context;
  }

  run(signal: AbortSignal): Promise<void> {
    return untilDone(this.#context, {
      isDone: () => this.#isDone(),
      timeoutMs: BIND_TIMEOUT_MS,
      timeoutMessage: "binding volumes: context deadline exceeded",
      signal,
    });
  }

  #isDone(): boolean {
    const { key, uid } = this.#pod;
    if (this.#context.snapshot.findPod(key)?.pod.uid !== uid) {
      throw new Error(`binding volumes: pod ${key} is gone`);
    }
    let isDone = true;
    for (const plan of this.#plans) if (!this.#isClaimBound(plan)) isDone = false;
    return isDone;
  }

  #isClaimBound({ type, claim }: ClaimPlan): boolean {
    const { cache } = this.#context;
    const now = cache(PersistentVolumeClaim).find(claim.metadata);
    if (now === undefined || now.metadata.uid !== claim.metadata.uid) {
      throw new Error(`binding volumes: pvc ${claimKey(claim)} is gone`);
    }
    if (isBound(now)) {
      this.#checkReach(now);
      return true;
    }
    if (type === "provision") this.#checkSelected(now);
    return false;
  }

  #checkSelected(claim: PersistentVolumeClaim): void {
    const key = claimKey(claim);
    const selected = ownValue(claim.metadata.annotations, SELECTED_NODE);
    if (selected === this.#node.name) this.#shown.add(key);
    else if (this.#shown.has(key)) {
      throw new Error(`binding volumes: provisioning failed for PVC ${quoted(claim.metadata.name)}`);
    }
  }

  #checkReach(claim: PersistentVolumeClaim): void {
    const volume = this.#context.cache(PersistentVolume).find({ name: claim.spec.volumeName ?? "" });
    if (volume === undefined || !isClaimedBy(volume, claim)) return;
    if (isReachable(volume, this.#node.node)) return;
    throw new Error(
      `binding volumes: pv ${quoted(volume.metadata.name)} node affinity doesn't match node ` +
        `${quoted(this.#node.name)}: no matching NodeSelectorTerms`,
    );
  }
}
