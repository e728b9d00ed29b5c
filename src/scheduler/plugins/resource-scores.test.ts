import { describe, expect, test } from "vitest";
import type { Node, Pod } from "../../api/generated/types/core-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import type { PluginContext, PluginFactory } from "../framework/scheduler-plugin.ts";
import { ClusterSnapshot } from "../snapshot/cluster-snapshot.ts";
import { podInfo, type PodInfo } from "../snapshot/pod-info.ts";
import { PodShapes } from "../snapshot/pod-shape.ts";
import { balancedAllocation } from "./balanced-allocation.ts";
import { imageLocality } from "./image-locality.ts";
import { nodeResourcesFit } from "./node-resources-fit.ts";

type Requests = Readonly<Record<string, string>>;

function pod(name: string, requests: Requests): PodInfo {
  const spec = { containers: [{ name: "main", image: "app:1", resources: { requests } }] };
  const object = incomplete<Pod>({ metadata: { name, namespace: "default", uid: name }, spec, status: {} });
  return podInfo(object, new PodShapes());
}

function scoreOf(
  factory: PluginFactory,
  {
    requests,
    used = {},
    images,
  }: { readonly requests: Requests; readonly used?: Requests; readonly images?: object[] },
): number | undefined {
  const snapshot = new ClusterSnapshot();
  const allocatable = { cpu: "4", memory: "10000", pods: "110" };
  const node = snapshot.addNode(
    incomplete<Node>({
      metadata: { name: "a" },
      spec: {},
      status: { allocatable, images },
    }),
  );
  snapshot.addPod(pod("there", used), "a");
  const plugin = factory({ snapshot } as PluginContext);
  return plugin.score?.({ pod: pod("incoming", requests) }, [node])?.score(node);
}

describe("resource scores", () => {
  test("leastAllocated is the average share left", () => {
    // A quarter of the cpu and half of the memory.
    const requests = { cpu: "2", memory: "4000" };
    const used = { cpu: "1", memory: "1000" };

    expect(scoreOf(nodeResourcesFit, { requests, used })).toBe(37);
  });

  test("leastAllocated is zero beyond the capacity", () => {
    expect(scoreOf(nodeResourcesFit, { requests: { cpu: "5", memory: "20000" } })).toBe(0);
  });

  test("balancedAllocation prefers a node whose shares the pod brings together", () => {
    const used = { cpu: "2", memory: "0" };

    expect(scoreOf(balancedAllocation, { used, requests: { memory: "5000" } })).toBe(87);
    expect(scoreOf(balancedAllocation, { used, requests: { cpu: "2", memory: "0" } })).toBe(62);
    expect(scoreOf(balancedAllocation, { used, requests: { cpu: "1", memory: "2500" } })).toBe(75);
  });

  test("balancedAllocation ignores pods without requests", () => {
    expect(scoreOf(balancedAllocation, { requests: {} })).toBeUndefined();
  });

  test("imageLocality scores an image by its size", () => {
    const megabyte = 1024 * 1024;
    const image = (sizeMb: number): object[] => [{ names: ["app:1"], sizeBytes: sizeMb * megabyte }];

    expect(scoreOf(imageLocality, { requests: {}, images: image(2000) })).toBe(100);
    expect(scoreOf(imageLocality, { requests: {}, images: image(23) })).toBe(0);
    expect(scoreOf(imageLocality, { requests: {} })).toBeUndefined();
  });
});
