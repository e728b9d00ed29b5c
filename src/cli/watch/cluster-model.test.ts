import { describe, expect, test } from "vitest";
import { ClusterModel } from "./cluster-model.ts";
import { changed, eventOf, modelOf, nodeOf, podOf, reset } from "./fixture.ts";
import type { NodeBox } from "./node-box.ts";
import { PLACES_MAX } from "./node-box.ts";

/** Phase and name of the pod at each place; `×` for the mark of a deleted one. */
function placesOf(box: NodeBox | undefined): readonly string[] {
  return Array.from({ length: box?.length ?? 0 }, (_, place) => {
    const entry = box?.at(place);
    if (entry === undefined) return "";
    return entry.isGhost ? "×" : `${entry.shown.name} ${entry.shown.phase}`;
  });
}

describe("the model of watch", () => {
  test("shows each phase of a pod for a while, however fast it passes", () => {
    const model = modelOf({ nodes: [nodeOf("node-1")], pods: [podOf("old", { node: "node-1" })] });
    const seen: string[] = [];
    model.applyPods(changed(podOf("a")), 1000);
    for (const phase of ["creating", "starting", "ready"] as const)
      model.applyPods(changed(podOf("a", { node: "node-1", phase })), 1001);
    for (let now = 1000; now < 2500; now += 50) {
      model.tick(now);
      const text = [...placesOf(model.unscheduled), ...placesOf(model.boxes[0])].find((each) =>
        each.startsWith("a "),
      );
      if (text !== undefined && seen.at(-1) !== text) seen.push(text);
    }

    expect(seen).toEqual(["a unscheduled", "a creating", "a starting", "a ready"]);
    expect(model.isMoving).toBe(false);
  });

  test("keeps other pods at their places when one goes, and gives its place to the next", () => {
    const pods = ["a", "b", "c"].map((name) => podOf(name, { node: "node-1" }));
    const model = modelOf({ nodes: [nodeOf("node-1")], pods });
    const [box] = model.boxes;
    model.applyPods(changed(podOf("a", { node: "node-1", phase: "ending" })), 1000);
    const ending = placesOf(box);
    model.applyPods(changed(podOf("a", { node: "node-1" }), "delete"), 1001);
    model.tick(1400);
    const gone = placesOf(box);
    model.tick(3000);
    const free = placesOf(box);
    model.applyPods(changed(podOf("d", { node: "node-1" })), 4000);

    expect(ending).toEqual(["a ending", "b ready", "c ready"]);
    expect(gone).toEqual(["×", "b ready", "c ready"]);
    expect(free).toEqual(["", "b ready", "c ready"]);
    expect(placesOf(box)).toEqual(["d ready", "b ready", "c ready"]);
    expect([box?.pods, model.counts.ready, model.counts.ending]).toEqual([3, 3, 0]);
  });

  test("tells a pod from its namesake", () => {
    const model = modelOf({ nodes: [nodeOf("node-1")], pods: [podOf("db-0", { node: "node-1" })] });
    model.applyPods(changed(podOf("db-0", { node: "node-1" }), "delete"), 1000);
    model.applyPods(changed(podOf("db-0", { uid: "second", node: "node-1" })), 1000);
    model.tick(3000);
    model.tick(6000);

    expect(placesOf(model.boxes[0])).toEqual(["", "db-0 ready"]);
    expect(model.pods).toBe(1);
  });

  test("takes over a new state: what it lacks goes", () => {
    const model = modelOf({
      nodes: [nodeOf("node-1"), nodeOf("node-2")],
      pods: [podOf("a", { node: "node-1" }), podOf("b", { node: "node-2" })],
    });
    model.applyNodes(reset([nodeOf("node-1", { isReady: false })]));
    model.applyPods(reset([podOf("a", { node: "node-1" })]), 5000);
    for (const now of [5000, 6000, 7000, 8000]) model.tick(now);

    expect(model.boxes.map(({ name }) => name)).toEqual(["node-1"]);
    expect([model.nodes, model.readyNodes, model.pods]).toEqual([1, 0, 1]);
  });

  test("shows pods of a node that does not exist", () => {
    const model = modelOf({ pods: [podOf("lost", { node: "gone-1" })] });

    expect(model.boxes.map(({ name, node }) => [name, node])).toEqual([["gone-1", undefined]]);
    expect(model.nodes).toBe(0);
  });

  test("orders nodes by number", () => {
    const model = modelOf({ nodes: ["node-10", "node-2", "node-1"].map((name) => nodeOf(name)) });

    expect(model.boxes.map(({ name }) => name)).toEqual(["node-1", "node-2", "node-10"]);
    expect([model.indexOf("node-10"), model.indexOf("node-3")]).toEqual([2, -1]);
  });

  test("filters by parts of names and by labels", () => {
    const model = modelOf({
      nodes: [nodeOf("node-1"), nodeOf("node-2")],
      pods: [
        podOf("web-1", { node: "node-1", labels: "app=web,tier=front" }),
        podOf("db-1", { node: "node-2", labels: "app=db" }),
      ],
    });
    const shown = (text: string): readonly string[] => {
      model.setFilter(text);
      return model.boxes.map(({ name }) => name);
    };

    expect(shown("web")).toEqual(["node-1"]);
    expect(shown("default/db")).toEqual(["node-2"]);
    expect(shown("app=web")).toEqual(["node-1"]);
    expect(shown("app=we")).toEqual([]);
    expect(shown("web app=db")).toEqual([]);
    expect(shown("")).toEqual(["node-1", "node-2"]);
    model.setFilter("db");
    model.applyPods(changed(podOf("db-2", { node: "node-1" })), 1000);
    expect(model.boxes.map(({ name, matches }) => [name, matches])).toEqual([
      ["node-1", 1],
      ["node-2", 1],
    ]);
  });

  test("keeps the newest Events, each once", () => {
    const model = new ClusterModel();
    for (let at = 0; at < 300; at++) model.applyEvents(changed(eventOf(`pod-${String(at)}`)));
    model.applyEvents(changed(eventOf("pod-250", { count: 2 })));

    expect(model.eventCount).toBe(200);
    expect(model.events(2).map(({ name, count }) => [name, count])).toEqual([
      ["pod-250", 2],
      ["pod-299", 1],
    ]);
  });

  test("counts more pods than a box has places for", () => {
    const names = Array.from({ length: PLACES_MAX + 40 }, (_, at) => `p${String(at)}`);
    const model = modelOf({ pods: names.map((name) => podOf(name)) });
    const { unscheduled: box } = model;

    expect([box.length, box.pods, model.counts.unscheduled]).toEqual([
      PLACES_MAX,
      PLACES_MAX + 40,
      PLACES_MAX + 40,
    ]);
    model.applyPods(changed(podOf("p0"), "delete"), 1000);
    for (const now of [1300, 3000]) model.tick(now);
    expect([box.length, box.pods, box.at(0)?.shown.name]).toEqual([
      PLACES_MAX,
      PLACES_MAX + 39,
      `p${String(PLACES_MAX)}`,
    ]);
  });
});
