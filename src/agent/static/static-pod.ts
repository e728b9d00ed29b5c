/**
 * A pod that a node runs on its own account. The API shows a mirror pod of it: the mirror's status is true, its
 * deletion has no lasting effect.
 */
import { createHash } from "node:crypto";
import type { Manifest } from "../../api/api-object.ts";
import type { Node, Pod } from "../../api/generated/types/core-v1.ts";
import { timeText } from "../../api/values/time.ts";
import type { RuntimeHandlerFactory } from "../runtime-handler.ts";

export interface StaticPod {
  readonly node: string;
  readonly namespace: string;
  /** The mirror pod's name is this and the node's. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: Manifest<Pod>["spec"];
}

export interface StaticPods {
  readonly pods: readonly StaticPod[];
  /** Runs the static pods, and no other pod. */
  readonly handler: RuntimeHandlerFactory;
}

const CONFIG = "kubernetes.io/config";

export function mirrorName({ name, node }: StaticPod): string {
  return `${name}-${node}`;
}

/** The mirror pod, in the form that upstream's kubelet gives it. */
export function mirrorPod(pod: StaticPod, node: Node, now: number): Manifest<Pod> {
  const hash = hashOf(pod);
  const { uid, name } = node.metadata;
  return {
    metadata: {
      name: mirrorName(pod),
      namespace: pod.namespace,
      labels: pod.labels,
      annotations: {
        [`${CONFIG}.hash`]: hash,
        [`${CONFIG}.mirror`]: hash,
        [`${CONFIG}.seen`]: timeText(now),
        [`${CONFIG}.source`]: "file",
      },
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid, controller: true }],
    },
    spec: {
      ...pod.spec,
      nodeName: pod.node,
      // A static pod runs whatever becomes of its node.
      tolerations: [{ operator: "Exists", effect: "NoExecute" }],
    },
  };
}

/** Whether the object is the mirror of the current static pod, and not of an earlier version or another object. */
export function isMirrorOf(pod: StaticPod, { metadata, spec }: Pod): boolean {
  return spec.nodeName === pod.node && metadata.annotations?.[`${CONFIG}.mirror`] === hashOf(pod);
}

function hashOf(pod: StaticPod): string {
  return createHash("sha256").update(JSON.stringify(pod)).digest("hex").slice(0, 32);
}
