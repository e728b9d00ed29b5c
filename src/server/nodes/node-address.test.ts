import { describe, expect, test } from "vitest";
import type { Node } from "../../api/generated/types/core-v1.ts";
import { findKubeletPort, preferredAddresses } from "./node-address.ts";

/** A Node with the fields that matter here. */
function node(status: object, labels: Readonly<Record<string, string>> = {}): Node {
  const object: unknown = { metadata: { name: "n1", labels }, spec: {}, status };
  return object as Node;
}

const ADDRESSES = [
  { type: "ExternalIP", address: "203.0.113.1" },
  { type: "InternalIP", address: "10.0.0.1" },
  { type: "InternalIP", address: "fd00::1" },
  { type: "Hostname", address: "n1.example" },
];

describe("addresses of a node", () => {
  test("are in kube-apiserver's order by default", () => {
    expect(preferredAddresses(node({ addresses: ADDRESSES }))).toEqual([
      "n1.example",
      "10.0.0.1",
      "fd00::1",
      "203.0.113.1",
    ]);
  });

  test("are of the preferred types only", () => {
    expect(preferredAddresses(node({ addresses: ADDRESSES }), ["InternalIP"])).toEqual([
      "10.0.0.1",
      "fd00::1",
    ]);
    expect(preferredAddresses(node({}), ["InternalIP"])).toEqual([]);
  });

  test("take a missing host name from the label", () => {
    const [, internal] = ADDRESSES;
    const labelled = node({ addresses: [internal] }, { "kubernetes.io/hostname": "labelled" });

    expect(preferredAddresses(labelled)).toEqual(["labelled", "10.0.0.1"]);
  });
});

describe("the kubelet's port", () => {
  test.each([
    [{}, undefined],
    [{ daemonEndpoints: { kubeletEndpoint: { Port: 0 } } }, undefined],
    [{ daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } } }, 10_250],
  ])("of a node with status %j is %s", (status, port) => {
    expect(findKubeletPort(node(status))).toBe(port);
  });
});
