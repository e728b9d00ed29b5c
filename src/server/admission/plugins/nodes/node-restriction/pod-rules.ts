/** Rules for pods: a node creates mirror pods, and writes, evicts and deletes only pods that run on it. */
import { notFound } from "../../../../../api/errors/api-error.ts";
import type { Node, Pod, PodStatus, Volume } from "../../../../../api/generated/types/core-v1.ts";
import type { Eviction } from "../../../../../api/generated/types/policy-v1.ts";
import { jsonEqual } from "../../../../../api/patch/json-equal.ts";
import { kindPrefix } from "../../../../objects/lister.ts";
import { namesSecret } from "../../pods/mirror-pod.ts";
import { containersOf } from "../../pods/pod-containers.ts";
import type { NodeWrite, NodeRule } from "./node-rule.ts";

const PODS = kindPrefix<Pod>("pods");
const NODES = kindPrefix<Node>("minions");
const MIRROR = "kubernetes.io/config.mirror";

export const podRule: NodeRule<Pod> = (write) => {
  const { node, object, request } = write;
  if (request.operation === "CREATE")
    return ownPodProblem(write) ?? ownerProblem(write) ?? referenceProblem(write);
  if (request.operation !== "DELETE")
    return `unexpected operation "${request.operation}", node "${node}" can only create and delete mirror pods`;
  return object.spec.nodeName === node
    ? undefined
    : `node "${node}" can only delete pods with spec.nodeName set to itself`;
};

export const podStatusRule: NodeRule<Pod> = ({ node, object, request }) => {
  const previous = request.previous as Pod | undefined;
  if (previous?.spec.nodeName !== node)
    return `node "${node}" can only update pod status for pods with spec.nodeName set to itself`;
  if (!jsonEqual(previous.metadata.labels ?? {}, object.metadata.labels ?? {}))
    return `node "${node}" cannot update labels through pod status`;
  if (!jsonEqual(claimsOf(previous.status), claimsOf(object.status)))
    return `node "${node}" cannot update resource claim statues`;
  return jsonEqual(previous.status.extendedResourceClaimStatus, object.status.extendedResourceClaimStatus)
    ? undefined
    : `node "${node}" cannot update extended resource claim status`;
};

/** A claim in a pod's status lets the node read that claim. */
function claimsOf({ resourceClaimStatuses = [] }: PodStatus): readonly unknown[] {
  return resourceClaimStatuses.map(({ name, resourceClaimName }) => [name, resourceClaimName ?? ""]);
}

export const podEvictionRule: NodeRule<Eviction> = ({ node, request }) => {
  const { memory, namespace, name } = request;
  const pod = memory.find(PODS, `${namespace}/${name}`);
  if (pod === undefined) throw notFound({ group: "", resource: "pods" }, name);
  return pod.spec.nodeName === node
    ? undefined
    : `node ${node} can only evict pods with spec.nodeName set to itself`;
};

export const otherPodRule: NodeRule = ({ request }) =>
  `unexpected pod subresource "${request.subresource}", only 'status' and 'eviction' are allowed`;

/** Problem with the pod as a mirror pod of the node; undefined if there is none. */
function ownPodProblem({ node, object }: NodeWrite<Pod>): string | undefined {
  const { metadata, spec } = object;
  if (metadata.annotations === undefined || !Object.hasOwn(metadata.annotations, MIRROR))
    return `pod does not have "${MIRROR}" annotation, node "${node}" can only create mirror pods`;
  return spec.nodeName === node
    ? undefined
    : `node "${node}" can only create pods with spec.nodeName set to itself`;
}

/** A mirror pod must have its node as the only owner. */
function ownerProblem({ node, object, request }: NodeWrite<Pod>): string | undefined {
  const { ownerReferences: owners = [] } = object.metadata;
  if (owners.length > 1)
    return `node "${node}" can only create pods with a single owner reference set to itself`;
  const [owner] = owners;
  if (owner?.apiVersion !== "v1" || owner.kind !== "Node" || owner.name !== node)
    return `node "${node}" can only create pods with an owner reference set to itself`;
  if (owner.controller !== true)
    return `node "${node}" can only create pods with a controller owner reference set to itself`;
  if (owner.blockOwnerDeletion === true)
    return `node "${node}" must not set blockOwnerDeletion on an owner reference`;
  const found = request.memory.find(NODES, node);
  if (found === undefined) throw notFound({ group: "", resource: "nodes" }, node);
  return owner.uid === found.metadata.uid
    ? undefined
    : `node ${node} UID mismatch: expected ${owner.uid} got ${found.metadata.uid}`;
}

/** A node may read every object that its pods reference, so mirror pods must reference none. */
function referenceProblem({ node, object: { spec } }: NodeWrite<Pod>): string | undefined {
  const refused = (what: string): string => `node "${node}" can not create pods that reference ${what}`;
  const { volumes = [] } = spec;
  const sources = volumes.flatMap(({ projected }) => projected?.sources ?? []);
  if ((spec.serviceAccountName ?? "") !== "") return refused("a service account");
  if (namesSecret(spec)) return refused("secrets");
  if (volumes.some(namesConfigMap) || containersOf(spec).some(readsConfigMap)) return refused("configmaps");
  if (sources.some(({ clusterTrustBundle }) => clusterTrustBundle !== undefined))
    return refused("clustertrustbundles");
  if (volumes.some(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined))
    return refused("persistentvolumeclaims");
  return (spec.resourceClaims ?? []).length > 0 ? refused("resourceclaims") : undefined;
}

function namesConfigMap({ configMap, projected }: Volume): boolean {
  return (
    configMap !== undefined || (projected?.sources ?? []).some((source) => source.configMap !== undefined)
  );
}

function readsConfigMap({ env = [], envFrom = [] }: ReturnType<typeof containersOf>[number]): boolean {
  return (
    env.some(({ valueFrom }) => valueFrom?.configMapKeyRef !== undefined) ||
    envFrom.some(({ configMapRef }) => configMapRef !== undefined)
  );
}
