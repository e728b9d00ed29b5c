/** Facts about one object that may be stuck, gathered before any rule looks at them. */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import type { Lease } from "../../api/generated/types/coordination-v1.ts";
import type { Event, Node, PersistentVolumeClaim, Pod } from "../../api/generated/types/core-v1.ts";
import type { OwnerReference } from "../../api/generated/types/meta-v1.ts";
import type { PodDisruptionBudget } from "../../api/generated/types/policy-v1.ts";

export interface OwnerFound {
  readonly reference: OwnerReference;
  readonly state: "exists" | "gone" | "hidden";
}

export interface Situation {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly object: ApiObject;
  readonly type: ResourceType;
  /** Events about the object, newest first. */
  readonly events: readonly Event[];
  readonly owners: readonly OwnerFound[];
  /** All nodes for a pod without one, the pod's own otherwise. */
  readonly nodes: readonly Node[];
  /** Pods of a node, and pods that use a claim. */
  readonly pods: readonly Pod[];
  readonly budgets: readonly PodDisruptionBudget[];
  readonly claims: readonly PersistentVolumeClaim[];
  /** Leases of the built-in loops. */
  readonly leases: readonly Lease[];
}

/** A command that helps, and its effect in a few words. */
export interface Remedy {
  readonly command: string;
  readonly effect: string;
}

export interface Finding {
  readonly blockedBy: string;
  readonly unblock: readonly Remedy[];
}

/** Finds one kind of obstacle. Pure. */
export type StuckRule = (situation: Situation) => Finding | undefined;

/** Narrows the object by its kind. */
export function asKind<T extends ApiObject>(
  { object, type }: Pick<Situation, "object" | "type">,
  wanted: ResourceType<T>,
): T | undefined {
  const isKind = type.kind === wanted.kind && type.apiVersion === wanted.apiVersion;
  return isKind ? (object as T) : undefined;
}

/** Arguments of kubectl that name the object: `pod web -n shop`. */
export function kubectlName({ type, object: { metadata } }: Pick<Situation, "type" | "object">): string {
  return `${type.kind.toLowerCase()} ${metadata.name ?? ""}${inNamespace(metadata.namespace)}`;
}

/** ` -n NAMESPACE`, or nothing for the default one. */
export function inNamespace(namespace: string | undefined): string {
  return namespace === undefined || namespace === "" || namespace === "default" ? "" : ` -n ${namespace}`;
}
