/** Tests what a node may write, resource by resource. Other users are not restricted. */
import { beforeAll, describe, expect, test } from "vitest";
import type { Authorizer } from "../../../../access/authz/authorizer.ts";
import { AdmissionFixture } from "../../../admission-fixture.ts";
import type { TestedWrite, Written } from "../../../admission-fixture.ts";
import { SAMPLE_REQUESTS } from "../../../sample-requests.ts";

const NODE = { name: "system:node:n1", uid: "", groups: ["system:nodes", "system:authenticated"], extra: {} };
const MIRROR = { "kubernetes.io/config.mirror": "hash" };

interface PodParts {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
}

const OWNER = { apiVersion: "v1", kind: "Node", name: "n1", uid: "u-n1", controller: true };

/** A mirror pod of the node itself, overridden by the given parts. */
function pod({ metadata = {}, spec = {}, status = {} }: PodParts = {}): Written {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: "p",
      namespace: "default",
      uid: "u-p",
      annotations: MIRROR,
      ownerReferences: [OWNER],
      ...metadata,
    },
    spec: { nodeName: "n1", containers: [{ name: "a", image: "x" }], ...spec },
    status,
  };
}

function node(metadata: object = {}, spec: object = {}): Written {
  return { apiVersion: "v1", kind: "Node", metadata: { name: "n1", uid: "u-n1", ...metadata }, spec };
}

function named(apiVersion: string, kind: string, rest: object = {}): Written {
  return { apiVersion, kind, metadata: { name: "n1" }, ...rest } as Written;
}

function token(spec: object): Written {
  const metadata = { name: "sa", namespace: "default" };
  return {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    metadata,
    spec: { audiences: [], ...spec },
  };
}

const BOUND = { apiVersion: "v1", kind: "Pod", name: "p", uid: "u-p" };

/** Authorizer that allows token requests for the given audience only, or for none. */
const audiences: Authorizer = {
  decide: ({ verb, resource }) =>
    Promise.resolve({
      outcome:
        verb === "request-serviceaccounts-token-audience" && resource === "vault" ? "allowed" : "denied",
      reason: "",
    }),
};

let fixture: AdmissionFixture;
beforeAll(async () => {
  fixture = new AdmissionFixture({}, audiences);
  await fixture.put("nodes", node());
  const sources = [{ serviceAccountToken: { path: "t", audience: "api" } }];
  const volumes = [
    { name: "t", projected: { sources } },
    { name: "c", csi: { driver: "d" } },
  ];
  await fixture.put("pods", pod({ spec: { volumes } }));
  await fixture.put("pods", pod({ metadata: { name: "far", uid: "u-far" }, spec: { nodeName: "n2" } }));
  await fixture.put("csidrivers.storage.k8s.io", {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSIDriver",
    metadata: { name: "d" },
    spec: { tokenRequests: [{ audience: "driver" }] },
  });
});

type Case = readonly [title: string, write: Omit<TestedWrite, "user">, says: string];

async function verdict(write: Omit<TestedWrite, "user">): Promise<string> {
  return (await fixture.attempt({ ...write, user: NODE })).refusal;
}

const CREATE = { operation: "CREATE", resource: "pods" } as const;
const PODS: readonly Case[] = [
  ["shows a pod of its own", { ...CREATE, object: pod() }, ""],
  [
    "creates no other pods",
    { ...CREATE, object: pod({ metadata: { annotations: {} } }) },
    'pods "p" is forbidden: pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods',
  ],
  [
    "puts no pod on another node",
    { ...CREATE, object: pod({ spec: { nodeName: "n2" } }) },
    'pods "p" is forbidden: node "n1" can only create pods with spec.nodeName set to itself',
  ],
  [
    "must own its mirror pods",
    { ...CREATE, object: pod({ metadata: { ownerReferences: [] } }) },
    'pods "p" is forbidden: node "n1" can only create pods with an owner reference set to itself',
  ],
  [
    "must be their only owner",
    { ...CREATE, object: pod({ metadata: { ownerReferences: [OWNER, { ...OWNER, name: "n2" }] } }) },
    'pods "p" is forbidden: node "n1" can only create pods with a single owner reference set to itself',
  ],
  [
    "must own them with its own uid",
    { ...CREATE, object: pod({ metadata: { ownerReferences: [{ ...OWNER, uid: "other" }] } }) },
    'pods "p" is forbidden: node n1 UID mismatch: expected other got u-n1',
  ],
  [
    "names no service account",
    { ...CREATE, object: pod({ spec: { serviceAccountName: "sa" } }) },
    'pods "p" is forbidden: node "n1" can not create pods that reference a service account',
  ],
  [
    "names no secret, in any type of container",
    {
      ...CREATE,
      object: pod({
        spec: { initContainers: [{ name: "i", image: "x", envFrom: [{ secretRef: { name: "s" } }] }] },
      }),
    },
    'pods "p" is forbidden: node "n1" can not create pods that reference secrets',
  ],
  [
    "names no ConfigMap",
    { ...CREATE, object: pod({ spec: { volumes: [{ name: "v", configMap: { name: "m" } }] } }) },
    'pods "p" is forbidden: node "n1" can not create pods that reference configmaps',
  ],
  [
    "names no volume claim",
    {
      ...CREATE,
      object: pod({ spec: { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }] } }),
    },
    'pods "p" is forbidden: node "n1" can not create pods that reference persistentvolumeclaims',
  ],
  [
    "names no resource claim",
    { ...CREATE, object: pod({ spec: { resourceClaims: [{ name: "r", resourceClaimName: "gpu" }] } }) },
    'pods "p" is forbidden: node "n1" can not create pods that reference resourceclaims',
  ],
  [
    "updates no pod",
    { operation: "UPDATE", resource: "pods", object: pod(), previous: pod() },
    'pods "p" is forbidden: unexpected operation "UPDATE", node "n1" can only create and delete mirror pods',
  ],
  ["ends its pods", { operation: "DELETE", resource: "pods", object: pod() }, ""],
  [
    "deletes no pod of another node",
    { operation: "DELETE", resource: "pods", object: pod({ spec: { nodeName: "n2" } }) },
    'pods "p" is forbidden: node "n1" can only delete pods with spec.nodeName set to itself',
  ],
  [
    "writes the status of its pods",
    { operation: "UPDATE", resource: "pods/status", object: pod(), previous: pod() },
    "",
  ],
  [
    "writes no status of other pods",
    {
      operation: "UPDATE",
      resource: "pods/status",
      object: pod(),
      previous: pod({ spec: { nodeName: "n2" } }),
    },
    'pods "p" is forbidden: node "n1" can only update pod status for pods with spec.nodeName set to itself',
  ],
  [
    "does not change labels by a status write",
    {
      operation: "UPDATE",
      resource: "pods/status",
      object: pod({ metadata: { labels: { app: "web" } } }),
      previous: pod(),
    },
    'pods "p" is forbidden: node "n1" cannot update labels through pod status',
  ],
  [
    "does not change resource claims by a status write",
    {
      operation: "UPDATE",
      resource: "pods/status",
      object: pod({ status: { resourceClaimStatuses: [{ name: "r", resourceClaimName: "gpu" }] } }),
      previous: pod(),
    },
    'pods "p" is forbidden: node "n1" cannot update resource claim statues',
  ],
  [
    "resizes no pod",
    { operation: "UPDATE", resource: "pods/resize", object: pod(), previous: pod() },
    `pods "p" is forbidden: unexpected pod subresource "resize", only 'status' and 'eviction' are allowed`,
  ],
];

function eviction(name: string): Written {
  return { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace: "default" } };
}

const EVICTIONS: readonly Case[] = [
  ["evicts its pods", { operation: "CREATE", resource: "pods/eviction", object: eviction("p") }, ""],
  [
    "evicts no pod of another node",
    { operation: "CREATE", resource: "pods/eviction", object: eviction("far") },
    'pods "far" is forbidden: node n1 can only evict pods with spec.nodeName set to itself',
  ],
];

const UPDATE = { operation: "UPDATE", resource: "nodes", previous: node() } as const;
const NODES: readonly Case[] = [
  [
    "registers with its own labels",
    {
      operation: "CREATE",
      resource: "nodes",
      object: node({ labels: { "kubernetes.io/os": "linux", "a.node.kubernetes.io/b": "c", own: "yes" } }),
    },
    "",
  ],
  [
    "registers with no other label in Kubernetes' domains",
    {
      operation: "CREATE",
      resource: "nodes",
      object: node({
        labels: { "node-restriction.kubernetes.io/x": "y", "node-role.kubernetes.io/control-plane": "" },
      }),
    },
    'nodes "n1" is forbidden: node "n1" is not allowed to set the following labels: node-restriction.kubernetes.io/x, node-role.kubernetes.io/control-plane',
  ],
  [
    "writes no other node",
    {
      operation: "UPDATE",
      resource: "nodes/status",
      object: node({ name: "n2" }),
      previous: node({ name: "n2" }),
    },
    'nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2"',
  ],
  [
    "keeps its labels",
    { ...UPDATE, object: node({ labels: { "x.k8s.io/y": "z" } }) },
    'nodes "n1" is forbidden: is not allowed to modify labels: x.k8s.io/y',
  ],
  [
    "keeps its taints",
    { ...UPDATE, object: node({}, { taints: [{ key: "a", effect: "NoSchedule" }] }) },
    'nodes "n1" is forbidden: node "n1" is not allowed to modify taints',
  ],
  [
    "does not set its own owner",
    {
      ...UPDATE,
      object: node({ ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "x", uid: "y" }] }),
    },
    'nodes "n1" is forbidden: node "n1" is not allowed to modify ownerReferences',
  ],
  [
    "registers without an owner",
    {
      operation: "CREATE",
      resource: "nodes",
      object: node({ ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "x", uid: "y" }] }),
    },
    'nodes "n1" is forbidden: node "n1" is not allowed to set ownerReferences',
  ],
];

function lease(name: string, namespace: string): Written {
  return { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name, namespace }, spec: {} };
}

function claim(labels: object, status: object): Written {
  const metadata = { name: "c", namespace: "default", labels };
  return { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec: {}, status };
}

const LEASES = "leases.coordination.k8s.io";
const CSI = "csinodes.storage.k8s.io";
const SLICES = "resourceslices.resource.k8s.io";
const OTHERS: readonly Case[] = [
  ["renews its lease", { operation: "CREATE", resource: LEASES, object: lease("n1", "kube-node-lease") }, ""],
  [
    "writes no lease of another node",
    { operation: "DELETE", resource: LEASES, object: lease("n2", "kube-node-lease") },
    'leases.coordination.k8s.io "n2" is forbidden: can only access node lease with the same name as the requesting node',
  ],
  [
    "writes leases in one namespace only",
    { operation: "CREATE", resource: LEASES, object: lease("n1", "default") },
    'leases.coordination.k8s.io "n1" is forbidden: can only access leases in the "kube-node-lease" system namespace',
  ],
  [
    "writes its own CSINode",
    { operation: "CREATE", resource: CSI, object: named("storage.k8s.io/v1", "CSINode") },
    "",
  ],
  [
    "writes no CSINode of another node",
    {
      operation: "CREATE",
      resource: CSI,
      object: { apiVersion: "storage.k8s.io/v1", kind: "CSINode", metadata: { name: "n2" } },
    },
    'csinodes.storage.k8s.io "n2" is forbidden: can only access CSINode with the same name as the requesting node',
  ],
  [
    "publishes only devices of its own",
    {
      operation: "DELETE",
      resource: SLICES,
      object: named("resource.k8s.io/v1", "ResourceSlice", { spec: { nodeName: "n2" } }),
    },
    'resourceslices.resource.k8s.io "n1" is forbidden: can only delete ResourceSlice with the same NodeName as the requesting node',
  ],
  [
    "updates no volume claim",
    {
      operation: "UPDATE",
      resource: "persistentvolumeclaims",
      object: claim({}, {}),
      previous: claim({}, {}),
    },
    'persistentvolumeclaims "c" is forbidden: may only update PVC status',
  ],
  [
    "reports the capacity of a volume claim",
    {
      operation: "UPDATE",
      resource: "persistentvolumeclaims/status",
      object: claim({}, { capacity: { storage: "2Gi" } }),
      previous: claim({}, { capacity: { storage: "1Gi" } }),
    },
    "",
  ],
  [
    "changes no other field of a volume claim",
    {
      operation: "UPDATE",
      resource: "persistentvolumeclaims/status",
      object: claim({ a: "b" }, {}),
      previous: claim({}, {}),
    },
    'persistentvolumeclaims "c" is forbidden: node "n1" is not allowed to update fields other than status.quantity and status.conditions',
  ],
];

const TOKEN = { operation: "CREATE", resource: "serviceaccounts/token" } as const;
const TOKENS: readonly Case[] = [
  [
    "gets a token for an audience of its pod",
    { ...TOKEN, object: token({ boundObjectRef: BOUND, audiences: ["api"] }) },
    "",
  ],
  [
    "gets a token for an audience of its pod's CSI driver",
    { ...TOKEN, object: token({ boundObjectRef: BOUND, audiences: ["driver"] }) },
    "",
  ],
  [
    "gets a token for an audience that it is authorized for",
    { ...TOKEN, object: token({ boundObjectRef: BOUND, audiences: ["vault"] }) },
    "",
  ],
  [
    "gets no token for other audiences",
    { ...TOKEN, object: token({ boundObjectRef: BOUND, audiences: ["bank"] }) },
    'serviceaccounts "sa" is forbidden: audience "bank" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience',
  ],
  [
    "gets no token without a pod",
    { ...TOKEN, object: token({}) },
    'serviceaccounts "sa" is forbidden: node requested token not bound to a pod',
  ],
  [
    "gets no token for a pod of another node",
    { ...TOKEN, object: token({ boundObjectRef: { ...BOUND, name: "far", uid: "u-far" } }) },
    'serviceaccounts "sa" is forbidden: node requested token bound to a pod scheduled on a different node',
  ],
  [
    "gets no token for a deleted pod of the same name",
    { ...TOKEN, object: token({ boundObjectRef: { ...BOUND, uid: "old" } }) },
    'serviceaccounts "sa" is forbidden: the UID in the bound object reference (old) does not match the UID in record. The object might have been deleted and then recreated',
  ],
];

describe("a node", () => {
  test.each([...PODS, ...EVICTIONS, ...NODES, ...OTHERS, ...TOKENS])("%s", async (_title, write, says) => {
    expect(await verdict(write)).toBe(says);
  });

  test("requests certificates in its own name only", async () => {
    const ask = (request: string): Promise<string> =>
      verdict({
        operation: "CREATE",
        resource: "certificatesigningrequests.certificates.k8s.io",
        object: named("certificates.k8s.io/v1", "CertificateSigningRequest", {
          spec: { request, signerName: "kubernetes.io/kubelet-serving", usages: [] },
        }),
      });

    expect(await ask(SAMPLE_REQUESTS.nodeOne)).toBe("");
    expect(await ask(SAMPLE_REQUESTS.nodeTwo)).toContain("can only create a node CSR with CN=system:node:n1");
  });

  test("without a name may do nothing, and a user outside the group of nodes is not restricted", async () => {
    const object = node({ labels: { "x.k8s.io/y": "z" } });
    const attempt = (name: string, groups: readonly string[]): ReturnType<AdmissionFixture["attempt"]> =>
      fixture.attempt({ operation: "CREATE", resource: "nodes", object, user: { ...NODE, name, groups } });

    expect((await attempt("system:node:", ["system:nodes"])).refusal).toContain(
      'could not determine node from user "system:node:"',
    );
    expect((await attempt("system:node:n1", [])).refusal).toBe("");
  });
});
