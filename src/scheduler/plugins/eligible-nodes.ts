/** Nodes that count in topology spread constraints for pods of one shape, by node affinity and taints. */

import type { TopologySpreadConstraint } from "../../api/generated/types/core-v1.ts";
import { findUntolerated, matchesPodNodeSelection } from "../../resources/pod/node-selection.ts";
import type { NodeInfo } from "../snapshot/node-info.ts";
import type { PodShape } from "../snapshot/pod-shape.ts";

type Policies = Pick<TopologySpreadConstraint, "nodeAffinityPolicy" | "nodeTaintsPolicy">;

const SELECTED = 1;
const TOLERATED = 2;

export class EligibleNodes {
  readonly #shape: PodShape;
  /** Version of the node's labels and taints by slot, for which the flags hold. */
  #versions = new Float64Array(64);
  #flags = new Uint8Array(64);

  constructor(shape: PodShape) {
    this.#shape = shape;
  }

  /** Node affinity is honored and taints are ignored by default. */
  isEligible(node: NodeInfo, { nodeAffinityPolicy, nodeTaintsPolicy }: Policies): boolean {
    const wanted =
      (nodeAffinityPolicy === "Ignore" || !this.#isSelective ? 0 : SELECTED) |
      (nodeTaintsPolicy === "Honor" ? TOLERATED : 0);
    return wanted === 0 || (this.#flagsOf(node) & wanted) === wanted;
  }

  /** True if every node counts under these policies. */
  isTrivial({ nodeAffinityPolicy, nodeTaintsPolicy }: Policies): boolean {
    return nodeTaintsPolicy !== "Honor" && (nodeAffinityPolicy === "Ignore" || !this.#isSelective);
  }

  get #isSelective(): boolean {
    const { nodeSelector, affinity } = this.#shape.spec;
    return (
      nodeSelector !== undefined ||
      affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution !== undefined
    );
  }

  #flagsOf(node: NodeInfo): number {
    const { slot, placeVersion } = node;
    if (this.#versions[slot] === placeVersion) return this.#flags[slot] ?? 0;
    if (slot >= this.#versions.length) this.#grow(slot);
    const { spec } = this.#shape;
    const isTolerated = findUntolerated(node.repellingTaints, spec.tolerations) === undefined;
    const flags = (matchesPodNodeSelection(spec, node.node) ? SELECTED : 0) | (isTolerated ? TOLERATED : 0);
    this.#versions[slot] = placeVersion;
    this.#flags[slot] = flags;
    return flags;
  }

  #grow(slot: number): void {
    const size = Math.max(this.#versions.length * 2, slot + 1);
    const versions = new Float64Array(size);
    const flags = new Uint8Array(size);
    versions.set(this.#versions);
    flags.set(this.#flags);
    this.#versions = versions;
    this.#flags = flags;
  }
}
