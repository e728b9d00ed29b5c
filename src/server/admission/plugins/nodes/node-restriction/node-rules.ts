/** Rules for a node's own objects: Node, volume claims, leases, CSINode, ResourceSlices, certificate requests. */
import { readCertificateRequest } from "../../../../../api/certificates/certificate-request.ts";
import type { CertificateSigningRequest } from "../../../../../api/generated/types/certificates-v1.ts";
import type { Node, PersistentVolumeClaim } from "../../../../../api/generated/types/core-v1.ts";
import type { ResourceSlice } from "../../../../../api/generated/types/resource-v1.ts";
import { jsonEqual } from "../../../../../api/patch/json-equal.ts";
import { forbiddenLabels } from "./node-labels.ts";
import type { NodeWrite, NodeRule } from "./node-rule.ts";

const LEASES = "kube-node-lease";
const NODE_SIGNERS = ["kubernetes.io/kube-apiserver-client-kubelet", "kubernetes.io/kubelet-serving"];

export const nodeRule: NodeRule<Node> = (write) => {
  const { node, request } = write;
  if (request.name !== node) return `node "${node}" is not allowed to modify node "${request.name}"`;
  if (request.operation === "CREATE") return newNodeProblem(write);
  return request.operation === "UPDATE" ? changeProblem(write) : undefined;
};

function newNodeProblem({ node, object: { metadata, spec } }: NodeWrite<Node>): string | undefined {
  if (spec.configSource !== undefined)
    return `node "${node}" is not allowed to create pods with a non-nil configSource`;
  if ((metadata.ownerReferences ?? []).length > 0)
    return `node "${node}" is not allowed to set ownerReferences`;
  const labels = forbiddenLabels(metadata.labels, undefined);
  return labels.length === 0
    ? undefined
    : `node "${node}" is not allowed to set the following labels: ${labels.join(", ")}`;
}

/** A node must not choose its pods by removing its taints, nor have itself deleted through a false owner. */
function changeProblem({ node, object, request }: NodeWrite<Node>): string | undefined {
  const { metadata, spec } = object;
  const previous = (request.previous ?? object) as Node;
  if (spec.configSource !== undefined && !jsonEqual(spec.configSource, previous.spec.configSource))
    return `node "${node}" is not allowed to update configSource to a new non-nil configSource`;
  if (!jsonEqual(spec.taints ?? [], previous.spec.taints ?? []))
    return `node "${node}" is not allowed to modify taints`;
  if (!jsonEqual(metadata.ownerReferences ?? [], previous.metadata.ownerReferences ?? []))
    return `node "${node}" is not allowed to modify ownerReferences`;
  const labels = forbiddenLabels(metadata.labels, previous.metadata.labels);
  return labels.length === 0 ? undefined : `is not allowed to modify labels: ${labels.join(", ")}`;
}

export const claimRule: NodeRule = () => "may only update PVC status";

/** A node may report only the progress of a volume expansion. */
export const claimStatusRule: NodeRule<PersistentVolumeClaim> = ({ node, object, request }) => {
  const previous = (request.previous ?? object) as PersistentVolumeClaim;
  return jsonEqual(withoutProgress(object), withoutProgress(previous))
    ? undefined
    : `node "${node}" is not allowed to update fields other than status.quantity and status.conditions`;
};

function withoutProgress({ metadata, spec, status }: PersistentVolumeClaim): object {
  const { resourceVersion: _version, managedFields: _fields, ...kept } = metadata;
  const {
    capacity: _capacity,
    conditions: _conditions,
    allocatedResources: _allocated,
    allocatedResourceStatuses: _statuses,
    ...state
  } = status;
  return { metadata: kept, spec, status: state };
}

export const leaseRule: NodeRule = ({ node, request }) => {
  if (request.namespace !== LEASES) return `can only access leases in the "${LEASES}" system namespace`;
  return request.name === node
    ? undefined
    : "can only access node lease with the same name as the requesting node";
};

export const csiNodeRule: NodeRule = ({ node, request }) =>
  request.name === node ? undefined : "can only access CSINode with the same name as the requesting node";

export const resourceSliceRule: NodeRule<ResourceSlice> = ({ node, object, request }) => {
  if (object.spec.nodeName === node) return undefined;
  const verb = request.operation.toLowerCase();
  return `can only ${verb} ResourceSlice with the same NodeName as the requesting node`;
};

/** The signer validates the rest of the request. */
export const certificateRule: NodeRule<CertificateSigningRequest> = ({ node, object: { spec } }) => {
  if (!NODE_SIGNERS.includes(spec.signerName)) return undefined;
  const subject = readCertificateRequest(spec.request);
  if (subject === undefined) return "unable to parse csr: it is no certificate request";
  return subject.commonName === `system:node:${node}`
    ? undefined
    : `can only create a node CSR with CN=system:node:${node}`;
};
