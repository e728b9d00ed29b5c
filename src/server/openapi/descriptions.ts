/** One line for the kinds and fields that people ask `kubectl explain` about first. Each begins with its name. */
import type { StructSchema } from "../../api/schema.ts";
import { FIELD_TEXTS } from "./field-texts.ts";

const KIND_TEXTS: Readonly<Record<string, string>> = {
  "core.v1.Pod": "Pod is a group of containers that run together on one node and share network and volumes.",
  "core.v1.Service": "Service gives a set of pods one stable address and name.",
  "core.v1.ConfigMap": "ConfigMap holds configuration as keys and values for pods to read.",
  "core.v1.Secret": "Secret holds a small amount of sensitive data as keys and values.",
  "core.v1.Namespace": "Namespace is a scope for names; most objects live in one.",
  "core.v1.Node": "Node is a machine, or what acts as one, that runs pods.",
  "core.v1.ServiceAccount": "ServiceAccount is an identity for what runs in pods.",
  "core.v1.Event":
    "Event reports something that happened to an object. Events are kept for a short time only.",
  "core.v1.Endpoints": "Endpoints lists the addresses behind a Service; EndpointSlice has replaced it.",
  "core.v1.PersistentVolume": "PersistentVolume is a piece of storage that exists apart from any pod.",
  "core.v1.PersistentVolumeClaim":
    "PersistentVolumeClaim asks for storage and is bound to a PersistentVolume.",
  "core.v1.ReplicationController":
    "ReplicationController keeps a number of pods running; Deployment and ReplicaSet have replaced it.",
  "core.v1.ResourceQuota": "ResourceQuota limits what all objects of a namespace may use together.",
  "core.v1.LimitRange": "LimitRange sets bounds and defaults for what each pod of a namespace may use.",
  "core.v1.PodTemplate": "PodTemplate keeps a description of pods for later use.",
  "apps.v1.Deployment":
    "Deployment keeps a set of equal pods running and replaces them step by step when they change.",
  "apps.v1.ReplicaSet":
    "ReplicaSet keeps a number of equal pods running. Mostly a Deployment makes and owns it.",
  "apps.v1.StatefulSet": "StatefulSet runs pods that keep their names and their storage.",
  "apps.v1.DaemonSet": "DaemonSet runs one pod on every node, or on every node of some kind.",
  "apps.v1.ControllerRevision": "ControllerRevision is a snapshot of a set's state that never changes.",
  "batch.v1.Job": "Job runs pods until a number of them have ended well.",
  "batch.v1.CronJob": "CronJob makes Jobs at the times of a schedule.",
  "networking.v1.Ingress": "Ingress routes requests from outside to Services by host and path.",
  "networking.v1.IngressClass": "IngressClass names a controller that implements Ingress objects.",
  "networking.v1.NetworkPolicy": "NetworkPolicy says which traffic may reach and leave pods.",
  "discovery.v1.EndpointSlice": "EndpointSlice lists some of the addresses behind a Service.",
  "autoscaling.v2.HorizontalPodAutoscaler":
    "HorizontalPodAutoscaler changes the number of replicas as metrics change.",
  "autoscaling.v1.HorizontalPodAutoscaler":
    "HorizontalPodAutoscaler changes the number of replicas as CPU use changes.",
  "autoscaling.v1.Scale": "Scale shows and sets the number of replicas of another object.",
  "policy.v1.PodDisruptionBudget":
    "PodDisruptionBudget limits how many pods may be evicted at the same time.",
  "scheduling.v1.PriorityClass": "PriorityClass names a priority that pods can have.",
  "storage.v1.StorageClass": "StorageClass describes a kind of storage that can be asked for.",
  "coordination.v1.Lease": "Lease says who holds something and until when.",
  "rbac.v1.Role": "Role is a set of permissions within one namespace.",
  "rbac.v1.ClusterRole": "ClusterRole is a set of permissions in the whole cluster.",
  "rbac.v1.RoleBinding": "RoleBinding gives the permissions of a role to somebody, within one namespace.",
  "rbac.v1.ClusterRoleBinding": "ClusterRoleBinding gives the permissions of a role to somebody, everywhere.",
  "apiextensions.v1.CustomResourceDefinition": "CustomResourceDefinition adds a kind to the API.",
  "meta.v1.ObjectMeta": "ObjectMeta is what every stored object says of itself.",
  "meta.v1.LabelSelector": "LabelSelector chooses objects by their labels; all its parts must match.",
  "core.v1.PodSpec": "PodSpec describes a pod: its containers and how and where they run.",
  "core.v1.PodTemplateSpec": "PodTemplateSpec describes the pods to be made.",
  "core.v1.Container": "Container is one container of a pod.",
};

/** Of fields that mean the same in every kind. Clients look for how the first and the third begin. */
export const COMMON_TEXTS = {
  apiVersion: "APIVersion defines the version of the API in which this object is written, such as apps/v1.",
  kind: "Kind names what this object is, such as Deployment.",
  metadata: "Standard object's metadata: name, namespace, labels, annotations, owners.",
  spec: "Spec is the state that is wanted.",
  status: "Status is the state last observed. The system writes it.",
  items: "Items are the objects of the list.",
} as const;
const COMMON: Readonly<Record<string, string>> = COMMON_TEXTS;

export function descriptionOf({ definition }: StructSchema): string | undefined {
  return KIND_TEXTS[definition];
}

/** Common fields are described where the struct is an object of the API: it has a kind and metadata, or is made one. */
export function fieldDescription(struct: StructSchema, field: string): string | undefined {
  return FIELD_TEXTS[struct.definition]?.[field] ?? (isObject(struct) ? COMMON[field] : undefined);
}

function isObject({ definition, byName }: StructSchema): boolean {
  // Its status says whether a request went well, not how an object stands.
  if (definition === "meta.v1.Status") return false;
  return byName.has("metadata") && (byName.has("kind") || definition.includes("Template"));
}
