/** The cost of a change and of a frame does not grow with the cluster. */
import { describe, expect, test } from "vitest";
import type { ClusterModel } from "./cluster-model.ts";
import { changed, Desk, modelOf, nodeOf, podOf } from "./fixture.ts";

const PODS_A_NODE = 30;

function clusterOf(nodes: number): ClusterModel {
  return modelOf({
    nodes: Array.from({ length: nodes }, (_, at) => nodeOf(`node-${String(at)}`)),
    pods: Array.from({ length: nodes * PODS_A_NODE }, (_, at) =>
      podOf(`pod-${String(at)}`, { node: `node-${String(at % nodes)}` }),
    ),
  });
}

/** Objects and places that some work looks at. */
function visitsOf(model: ClusterModel, work: () => void): number {
  const before = model.visited;
  work();
  return model.visited - before;
}

describe("5,000 nodes with 150,000 pods", () => {
  const model = clusterOf(5000);
  const desk = new Desk(model, 120, 40);

  test("a change of a pod costs a few places", () => {
    const costs = [
      visitsOf(model, () =>
        model.applyPods(changed(podOf("pod-7", { node: "node-7", phase: "ending" })), 20_000),
      ),
      visitsOf(model, () => model.applyPods(changed(podOf("pod-7", { node: "node-7" }), "delete"), 20_001)),
      visitsOf(model, () => model.applyPods(changed(podOf("new", { node: "node-9" })), 20_002)),
      visitsOf(model, () => model.tick(20_003)),
    ];

    expect(Math.max(...costs)).toBeLessThanOrEqual(PODS_A_NODE + 2);
  });

  test("a frame looks only at the nodes that it shows, in any form", () => {
    expect(model.boxes).toHaveLength(5000);
    const costs: number[] = [];
    for (let form = 0; form < 5; form++) {
      costs.push(visitsOf(model, () => void desk.text));
      desk.press("z", "down", "page-down");
    }

    // Signs, lists, boxes, lines and signs again.
    const most = [60 * 26, 3 * 26, 6 * 26, 3 * 26, 60 * 26];
    expect(costs.every((cost, at) => cost > 0 && cost <= (most[at] ?? 0))).toBe(true);
    expect(desk.text.split("\n").length).toBeLessThanOrEqual(41);
  });

  test("shows a sign for each node, scrolled to the selected one", () => {
    const fresh = new Desk(model, 120, 40);
    expect(fresh.layout.grid.form).toBe("dot");

    fresh.press("down", "end");

    expect(fresh.layout.grid.firstRow).toBeGreaterThan(0);
    expect(fresh.text).toContain("Node node-4999");
  });

  test("a storm of changes is shown at once, and keeps nothing", () => {
    for (let at = 10_000; at < 30_000; at++) {
      const pod = podOf(`pod-${String(at)}`, { node: `node-${String(at % 5000)}` });
      model.applyPods(changed(pod, "delete"), 50_000);
    }
    model.tick(60_000);
    model.tick(70_000);
    model.tick(80_000);

    expect(model.isMoving).toBe(false);
    expect(model.pods).toBe(130_000);
  });
});
