import { beforeAll, describe, expect, test } from "vitest";
import { VirtualLoop } from "../../../../base/loop/virtual/virtual-loop.ts";
import type { AccessAttributes, Authorizer } from "../authorizer.ts";
import { asked, openAccessFixture, user } from "../fixture.ts";
import type { AccessFixture } from "../fixture.ts";
import { nodeRules } from "../rbac/default-roles.ts";
import { nodeAuthorizer } from "./node-authorizer.ts";
import { NodeGraph } from "./node-graph.ts";

const NODE = user("system:node:n1", "system:nodes", "system:authenticated");
const loop = new VirtualLoop({ seed: 1 });
const UNRELATED = "no relationship found between node 'n1' and this object";

const QUESTION =
  /^(?<verb>\w+) (?<resource>\w+)(?:\.(?<group>[\w.]+))?(?:\/(?<subresource>\w+))?(?: (?:(?<namespace>[\w-]+)\/)?(?<name>[\w-]*))?$/;

/** Text such as `get secrets a/mounted`, with group and subresource if set. */
function question(
  text: string,
): Pick<AccessAttributes, "verb" | "resource" | "group" | "subresource" | "namespace" | "name"> {
  const { groups = {} } = QUESTION.exec(text) ?? {};
  const { verb = "", resource = "", group = "", subresource = "", namespace = "", name = "" } = groups;
  return { verb, resource, group, subresource, namespace, name };
}

function pod(nodeName: string, spec: object, more: object = {}): object {
  return { spec: { nodeName, containers: [], ...spec }, ...more };
}

const MOUNTING = {
  serviceAccountName: "robot",
  imagePullSecrets: [{ name: "pull" }],
  containers: [
    { name: "c", env: [{ name: "A", valueFrom: { secretKeyRef: { name: "env", key: "a" } } }] },
    { name: "d", envFrom: [{ configMapRef: { name: "settings" } }] },
  ],
  initContainers: [{ name: "i", envFrom: [{ secretRef: { name: "init" } }] }],
  volumes: [
    { name: "s", secret: { secretName: "mounted" } },
    { name: "p", projected: { sources: [{ configMap: { name: "ca" } }, { secret: { name: "part" } }] } },
    { name: "data", persistentVolumeClaim: { claimName: "data" } },
    { name: "scratch", ephemeral: {} },
  ],
  resourceClaims: [{ name: "gpu", resourceClaimName: "gpu" }],
};

async function fill(fixture: AccessFixture): Promise<void> {
  await fixture.put("pods/a/web", pod("n1", MOUNTING));
  await fixture.put(
    "pods/a/other",
    pod("n2", { volumes: [{ name: "s", secret: { secretName: "theirs" } }] }),
  );
  await fixture.put(
    "pods/a/mirror",
    pod(
      "n1",
      { volumes: [{ name: "s", secret: { secretName: "stolen" } }] },
      {
        metadata: { name: "mirror", namespace: "a", annotations: { "kubernetes.io/config.mirror": "x" } },
      },
    ),
  );
  await fixture.put("persistentvolumeclaims/a/data", { spec: { volumeName: "pv" } });
  await fixture.put("persistentvolumes/pv", {
    spec: {
      claimRef: { namespace: "a", name: "data" },
      csi: {
        nodeStageSecretRef: { namespace: "drivers", name: "stage" },
        controllerPublishSecretRef: { namespace: "drivers", name: "controller" },
      },
    },
  });
  await fixture.put("persistentvolumes/theirs", { spec: { claimRef: { namespace: "a", name: "other" } } });
  await fixture.put("volumeattachments/mine", { spec: { nodeName: "n1" } });
  await fixture.put("volumeattachments/theirs", { spec: { nodeName: "n2" } });
}

describe("a node may", () => {
  const fixture = openAccessFixture();
  const authorizer: Authorizer = nodeAuthorizer({
    graph: new NodeGraph(fixture.store, loop),
    rules: nodeRules,
  });
  beforeAll(() => fill(fixture));

  function answer(text: string, fieldSelector = "", who = NODE): string {
    const { verb, ...about } = question(text);
    const decision = authorizer.decide(asked(who, verb, { ...about, fieldSelector }));
    if (decision instanceof Promise) throw new Error("a node's rights are known at once");
    return decision.outcome === "allowed" ? "allowed" : decision.reason;
  }

  test.each([
    ["get secrets a/mounted", "allowed"],
    ["watch secrets a/mounted", "allowed"],
    ["get secrets a/env", "allowed"],
    ["get secrets a/init", "allowed"],
    ["get secrets a/pull", "allowed"],
    ["get secrets a/part", "allowed"],
    ["get secrets a/theirs", UNRELATED],
    ["get secrets a/stolen", UNRELATED],
    ["get secrets b/mounted", UNRELATED],
    ["get secrets drivers/stage", "allowed"],
    ["get secrets drivers/controller", UNRELATED],
    ["list secrets a/", "No Object name found"],
    ["list secrets", "can only read namespaced object of this type"],
    ["update secrets a/mounted", "can only read resources of this type"],
    ["get configmaps a/settings", "allowed"],
    ["get configmaps a/ca", "allowed"],
    ["get configmaps a/none", UNRELATED],
    ["get persistentvolumeclaims a/data", "allowed"],
    ["get persistentvolumeclaims a/web-scratch", "allowed"],
    ["get persistentvolumeclaims a/other", UNRELATED],
    ["patch persistentvolumeclaims/status a/data", "allowed"],
    ["list persistentvolumeclaims a/data", "can only get individual resources of this type"],
    ["get persistentvolumes pv", "allowed"],
    ["get persistentvolumes theirs", UNRELATED],
    ["get volumeattachments.storage.k8s.io mine", "allowed"],
    ["get volumeattachments.storage.k8s.io theirs", UNRELATED],
    ["get resourceclaims.resource.k8s.io a/gpu", "allowed"],
    ["get resourceclaims.resource.k8s.io a/tpu", UNRELATED],
    ["create serviceaccounts/token a/robot", "allowed"],
    ["create serviceaccounts/token a/default", UNRELATED],
    ["create serviceaccounts a/robot", "can only create token subresource of service account"],
    ["update leases.coordination.k8s.io kube-node-lease/n1", "allowed"],
    ["create leases.coordination.k8s.io kube-node-lease/", "allowed"],
    [
      "update leases.coordination.k8s.io kube-node-lease/n2",
      "can only access node lease with the same name as the requesting node",
    ],
    [
      "get leases.coordination.k8s.io kube-system/n1",
      'can only access leases in the "kube-node-lease" system namespace',
    ],
    [
      "list leases.coordination.k8s.io kube-node-lease/",
      "can only get, create, update, patch, or delete a node lease",
    ],
    ["get csinodes.storage.k8s.io n1", "allowed"],
    ["get csinodes.storage.k8s.io n2", "can only access CSINode with the same name as the requesting node"],
    ["get nodes n1", "allowed"],
    ["get nodes n2", "node 'n1' cannot read 'n2', only its own Node object"],
    ["list nodes", "node 'n1' cannot read all nodes, only its own Node object"],
    ["watch nodes n1", "allowed"],
    ["patch nodes/status n1", "allowed"],
    ["delete nodes n1", ""],
    ["get pods a/web", "allowed"],
    ["get pods a/other", UNRELATED],
    ["list pods", "can only list/watch pods with spec.nodeName field selector"],
    ["patch pods/status a/web", "allowed"],
    ["create pods/eviction a/web", "allowed"],
    ["create pods/exec a/web", ""],
    ["update pods a/web", ""],
    ["list services", "allowed"],
    ["create services a/", ""],
    ["create events a/", "allowed"],
  ])("%s: %s", (question, expected) => {
    expect(answer(question)).toBe(expected);
  });

  test("list and watch its own pods and slices by node name", () => {
    expect(answer("list pods", "spec.nodeName=n1")).toBe("allowed");
    expect(answer("watch pods", "spec.nodeName=n1,status.phase!=Failed")).toBe("allowed");
    expect(answer("list pods", "spec.nodeName=n2")).toContain("field selector");
    expect(answer("list pods", "spec.nodeName!=n1")).toContain("field selector");
    expect(answer("deletecollection resourceslices.resource.k8s.io", "spec.nodeName=n1")).toBe("allowed");
    expect(answer("deletecollection resourceslices.resource.k8s.io")).toContain("field selector");
  });

  test("not act as another node, nor without the group system:nodes", () => {
    expect(answer("get nodes n1", "", user("system:node:n1"))).toBe("");
    expect(answer("get nodes n1", "", user("bob", "system:nodes"))).toBe("");
    expect(answer("get nodes n1", "", user("system:node:", "system:nodes"))).toBe(
      'unknown node for user "system:node:"',
    );
  });

  test("read the secrets of a volume bound to a claim of its pods, before the claim is bound", async () => {
    const scratch = { claimRef: { namespace: "a", name: "web-scratch" }, azureFile: { secretName: "share" } };
    await fixture.put("persistentvolumes/scratch", { spec: scratch });
    expect(answer("get secrets a/share")).toBe("allowed");

    await fixture.put("persistentvolumes/scratch", { spec: { ...scratch, claimRef: undefined } });
    expect(answer("get secrets a/share")).toBe(UNRELATED);

    await fixture.put("persistentvolumes/scratch", { spec: scratch });
    await fixture.remove("persistentvolumes/scratch");
    expect(answer("get secrets a/share")).toBe(UNRELATED);
  });

  test("read the objects that a pod needs only while the pod exists", async () => {
    await fixture.put("pods/a/late", pod("n1", { volumes: [{ name: "s", secret: { secretName: "late" } }] }));
    expect(answer("get secrets a/late")).toBe("allowed");

    await fixture.put("pods/a/late", pod("n2", { volumes: [{ name: "s", secret: { secretName: "late" } }] }));
    expect(answer("get secrets a/late")).toBe(UNRELATED);

    await fixture.put("pods/a/late", pod("n1", { volumes: [{ name: "s", secret: { secretName: "late" } }] }));
    await fixture.remove("pods/a/late");
    expect(answer("get secrets a/late")).toBe(UNRELATED);
  });
});

describe("the first question of a node, when there are many pods", () => {
  const secret = asked(NODE, "get", { resource: "secrets", namespace: "a", name: "late" });

  test("is answered after all pods are read, with other work in between", async () => {
    const fixture = openAccessFixture();
    const authorizer = nodeAuthorizer({ graph: new NodeGraph(fixture.store, loop), rules: nodeRules });
    for (let at = 0; at < 300; at++) await fixture.put(`pods/a/pod-${String(at)}`, pod("n2", {}));
    await fixture.put("pods/a/z", pod("n1", { volumes: [{ name: "s", secret: { secretName: "late" } }] }));

    const decision = authorizer.decide(secret);
    const lease = authorizer.decide(asked(NODE, "get", { resource: "nodes", name: "n1" }));
    await loop.settle();

    expect(decision).toBeInstanceOf(Promise);
    expect(await decision).toEqual({ outcome: "allowed", reason: "" });
    expect(lease, "what needs no pods is answered at once").toEqual({ outcome: "allowed", reason: "" });
    expect(authorizer.decide(secret), "from then on at once").toEqual({ outcome: "allowed", reason: "" });
  });
});

test("a question that waits for pods also waits for volumes added meanwhile", async () => {
  const fixture = openAccessFixture();
  const own = new VirtualLoop({ seed: 1 });
  const authorizer = nodeAuthorizer({ graph: new NodeGraph(fixture.store, own), rules: nodeRules });
  const about = question("get secrets drivers/stage");
  const decide = (): unknown => authorizer.decide(asked(NODE, about.verb, about));
  await fill(fixture);
  for (let at = 0; at < 100; at++) await fixture.put(`pods/b/pod-${String(at)}`, pod("n2", {}));
  for (let at = 0; at < 98; at++) await fixture.put(`persistentvolumes/volume-${String(at)}`, { spec: {} });

  const first = decide();
  await fixture.put("persistentvolumes/one-more", { spec: {} });
  const second = decide();
  await own.settle();

  expect(await first).toMatchObject({ outcome: "allowed" });
  expect(await second).toMatchObject({ outcome: "allowed" });
});
