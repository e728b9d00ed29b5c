/** Facts about one object that may be stuck, gathered before any rule looks at them. */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import type { Lease } from "../../api/generated/types/coordination-v1.ts";
import type {
  Event,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Service,
} from "../../api/generated/types/core-v1.ts";
import type { OwnerReference } from "../../api/generated/types/meta-v1.ts";
import type { PodDisruptionBudget } from "../../api/generated/types/policy-v1.ts";
import type { StorageClass } from "../../api/generated/types/storage-v1.ts";

export interface Subject {
  readonly object: ApiObject;
  readonly type: ResourceType;
}

export interface OwnerFound {
  readonly reference: OwnerReference;
  readonly state: "exists" | "gone" | "hidden";
}

/** A webhook in the configuration that registers it. */
export interface RegisteredWebhook {
  /** `validatingwebhookconfiguration guard` */
  readonly configuration: string;
  readonly index: number;
  readonly service: string | undefined;
}

/** Objects of one kind that keep a namespace from being deleted. */
export interface Remaining {
  /** `configmaps`, `widgets.example.com`. */
  readonly resource: string;
  readonly objects: readonly ApiObject[];
}

export interface Situation extends Subject {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The topmost owner that the user may read: its template is what a user changes. The object itself without one. */
  readonly top: Subject;
  /** Events about the object, newest first. */
  readonly events: readonly Event[];
  readonly owners: readonly OwnerFound[];
  /** All nodes for a pod without one and for a DaemonSet without pods; the pod's own otherwise. */
  readonly nodes: readonly Node[];
  /** Pods of a node, pods that use a claim, and all pods beside a Service or a budget. */
  readonly pods: readonly Pod[];
  /** Last line that each container of the pod wrote before it ended, by the container's name. */
  readonly lastLines: ReadonlyMap<string, string>;
  /** Services beside an Ingress. */
  readonly services: readonly Service[];
  /** Volumes and classes, for a claim that waits. */
  readonly volumes: readonly PersistentVolume[];
  readonly classes: readonly StorageClass[];
  /** The webhook that refuses the writes of the loop. */
  readonly webhook: RegisteredWebhook | undefined;
  /** Objects left in a namespace that is being deleted. */
  readonly remaining: readonly Remaining[];
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
  { object, type }: Subject,
  wanted: ResourceType<T>,
): T | undefined {
  const isKind = type.kind === wanted.kind && type.apiVersion === wanted.apiVersion;
  return isKind ? (object as T) : undefined;
}

/** Arguments of kubectl that name the object: `pod web -n shop`. */
export function kubectlName({ type, object: { metadata } }: Subject): string {
  return `${type.kind.toLowerCase()} ${metadata.name ?? ""}${inNamespace(metadata.namespace)}`;
}

/** ` -n NAMESPACE`, or nothing for the default one. */
export function inNamespace(namespace: string | undefined): string {
  return namespace === undefined || namespace === "" || namespace === "default" ? "" : ` -n ${namespace}`;
}
