import { expect, test } from "vitest";
import type { Kubectl } from "./kubectl.ts";
import type { Suite } from "./suite.ts";

const RESOURCES = { cpu: "4", memory: "8Gi", pods: "110" };

/** Old kubectl versions require every field that Go always writes. */
const NODE_INFO = {
  architecture: "amd64",
  bootID: "",
  containerRuntimeVersion: "",
  kernelVersion: "",
  kubeProxyVersion: "",
  kubeletVersion: "v1.36.4",
  machineID: "",
  operatingSystem: "linux",
  osImage: "",
  systemUUID: "",
};

/** Taint of every new node until a controller finds it ready. */
const NOT_READY = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };

/** A node named like the namespace, because nodes have none. */
async function withNode(kubectl: Kubectl): Promise<readonly [Kubectl, string]> {
  const name = kubectl.namespace;
  const status = {
    capacity: RESOURCES,
    allocatable: RESOURCES,
    conditions: [{ type: "Ready", status: "True" }],
    nodeInfo: NODE_INFO,
    addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
  };
  const node = { apiVersion: "v1", kind: "Node", metadata: { name }, status };
  await kubectl.ok("create", "-f", kubectl.file("node.json", node));
  return [kubectl, name];
}

export function nodeClaims({ namespace }: Suite): void {
  test("a node shows what it reported about itself", async () => {
    const [kubectl, name] = await withNode(namespace());

    expect(await kubectl.ok("get", "node", name, "-o", "wide", "--no-headers")).toMatch(
      /^\S+ +Ready +<none> +\S+ +v1\.36\.4 +10\.0\.0\.1 +<none> +<unknown> +<unknown> +<unknown>\n$/,
    );
    const text = await kubectl.ok("describe", "node", name);
    expect(text).toMatch(/^Capacity:\n {2}cpu: +4\n {2}memory: +8Gi\n {2}pods: +110\n/m);
    expect(text).toMatch(/^Non-terminated Pods: +\(0 in total\)$/m);
  });

  test("describe node counts the pods on it", async () => {
    const [kubectl, name] = await withNode(namespace());
    const overrides = JSON.stringify({ apiVersion: "v1", spec: { nodeName: name } });
    await kubectl.ok("run", "p", "--image=i", "--overrides", overrides);

    const text = await kubectl.ok("describe", "node", name);

    expect(text).toMatch(/^Non-terminated Pods: +\(1 in total\)$/m);
    expect(text).toMatch(new RegExp(`^ {2}${kubectl.namespace} +p +0 \\(0%\\) `, "m"));
  });

  test("cordon and uncordon", async () => {
    const [kubectl, name] = await withNode(namespace());

    expect(await kubectl.ok("cordon", name)).toBe(`node/${name} cordoned\n`);
    expect(await kubectl.ok("get", "node", name, "--no-headers")).toMatch(/ Ready,SchedulingDisabled /);
    expect(await kubectl.ok("cordon", name)).toBe(`node/${name} already cordoned\n`);
    expect(await kubectl.ok("uncordon", name)).toBe(`node/${name} uncordoned\n`);
    expect(await kubectl.ok("get", "node", name, "--no-headers")).toMatch(/ Ready /);
  });

  test("taint sets, replaces and removes taints", async () => {
    const [kubectl, name] = await withNode(namespace());
    const taints = async (): Promise<unknown> =>
      (await kubectl.json("get", "node", name))["spec"]?.["taints"];

    expect(await kubectl.ok("taint", "node", name, "a=b:NoSchedule")).toBe(`node/${name} tainted\n`);
    expect(await kubectl.refused("taint", "node", name, "a=c:NoSchedule")).toContain(
      `node ${name} already has a taint(s) with same effect(s) and --overwrite is false`,
    );
    expect(await kubectl.ok("taint", "node", name, "a=c:NoSchedule", "--overwrite")).toBe(
      `node/${name} modified\n`,
    );
    expect(await taints()).toEqual([{ key: "a", value: "c", effect: "NoSchedule" }, NOT_READY]);
    expect(await kubectl.ok("taint", "node", name, "a:NoSchedule-")).toBe(`node/${name} untainted\n`);
    expect(await taints()).toEqual([NOT_READY]);
  });

  test("a role label is a node's role", async () => {
    const [kubectl, name] = await withNode(namespace());

    await kubectl.ok("label", "node", name, "node-role.kubernetes.io/worker=");

    expect(await kubectl.ok("get", "node", name, "--no-headers")).toMatch(/ Ready +worker /);
  });
}
