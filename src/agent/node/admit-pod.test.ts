import { expect, test } from "vitest";
import type { Manifest } from "../../api/api-object.ts";
import type { Node, Pod } from "../../api/generated/types/core-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import { findRejection } from "./admit-pod.ts";
import { AllocatedResources } from "./allocated-resources.ts";

const NODE = incomplete<Node>({
  metadata: { name: "node-1", labels: { "kubernetes.io/os": "linux" } },
  spec: { taints: [{ key: "secret", value: "x", effect: "NoExecute" }] },
  status: {
    allocatable: { cpu: "4", memory: "8Gi", pods: "10", "example.com/known": "1" },
    nodeInfo: { operatingSystem: "linux" },
  },
});

interface PodChange {
  readonly labels?: Readonly<Record<string, string>>;
  readonly requests?: Readonly<Record<string, string>>;
  readonly spec?: Manifest<Pod>["spec"];
}

function podWith({ labels = {}, requests = {}, spec = {} }: PodChange): Pod {
  const containers = [{ name: "web", image: "web:1", resources: { requests } }];
  const tolerations = [{ operator: "Exists" }];
  return {
    metadata: { name: "web", namespace: "default", uid: "1", labels },
    spec: { containers, tolerations, ...spec },
    status: {},
  } as Pod;
}

function settings(...names: readonly string[]): PodChange {
  const sysctls = names.map((name) => ({ name, value: "1" }));
  return { spec: { securityContext: { sysctls } } as PodChange["spec"] };
}

test.each<[string, PodChange, string | undefined]>([
  ["for its own operating system", { spec: { os: { name: "linux" } } as PodChange["spec"] }, undefined],
  [
    "for another operating system",
    { spec: { os: { name: "windows" } } as PodChange["spec"] },
    "PodOSNotSupported",
  ],
  [
    "with a label for another operating system",
    { labels: { "kubernetes.io/os": "windows" } },
    "PodOSSelectorNodeLabelDoesNotMatch",
  ],
  ["that requests more than is free", { requests: { "example.com/known": "2" } }, "OutOfexample.com/known"],
  ["that requests a resource that no node has", { requests: { "example.com/other": "2" } }, undefined],
  [
    "that requests huge pages that the node lacks",
    { requests: { "hugepages-2Mi": "2Mi" } },
    "OutOfhugepages-2Mi",
  ],
  ["with safe sysctls", settings("net.ipv4.tcp_rmem", "kernel/shm_rmid_forced"), undefined],
  ["with an unsafe sysctl", settings("net.ipv4.tcp_rmem", "kernel.msgmax"), "SysctlForbidden"],
])("a node admits or refuses a pod %s", (_, change, reason) => {
  expect(findRejection(podWith(change), NODE, new AllocatedResources())?.reason).toBe(reason);
});

test("a node without a reported operating system admits Linux pods", () => {
  const node = { ...NODE, status: { ...NODE.status, nodeInfo: { operatingSystem: "" } } } as Node;
  const pod = podWith({ labels: { "kubernetes.io/os": "linux" } });

  expect(findRejection(pod, node, new AllocatedResources())).toBeUndefined();
});

test("a rejection does not name the taint", () => {
  const pod = podWith({ spec: { tolerations: [] } as PodChange["spec"] });

  expect(findRejection(pod, NODE, new AllocatedResources())).toEqual({
    reason: "TaintToleration",
    message: "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
  });
});

test("a rejection names the first unsafe sysctl", () => {
  expect(findRejection(podWith(settings("kernel/msgmax", "fs.x")), NODE, new AllocatedResources())).toEqual({
    reason: "SysctlForbidden",
    message: 'forbidden sysctl: "kernel.msgmax" not allowlisted',
  });
});
