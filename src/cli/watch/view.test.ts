import { describe, expect, test } from "vitest";
import { Desk, eventOf, modelOf, nodeOf, podOf } from "./fixture.ts";

function desk(columns = 110, rows = 40): Desk {
  const model = modelOf({
    nodes: [nodeOf("node-1"), nodeOf("node-2", { isDown: true }), nodeOf("real-1", { isSimulated: false })],
    pods: [
      podOf("web-a", { node: "node-1" }),
      podOf("web-b", { node: "node-1" }),
      podOf("db-a", { node: "node-2" }),
      podOf("big"),
    ],
    events: [eventOf("web-a"), eventOf("web-b", { kind: "ReplicaSet" })],
  });
  return new Desk(model, columns, rows);
}

const WEB_A = { uid: "uid-web-a", namespace: "default", name: "web-a" };

describe("keys", () => {
  test("arrows move over pods, nodes and the unscheduled", () => {
    const it = desk();
    const steps = ["down", "down", "down", "right", "up", "left", "up", "right"].map((key) => {
      it.press(key);
      return `${it.view.selection.node ?? "?"}/${String(it.view.selection.place)}`;
    });

    expect(steps).toEqual([
      "node-1/0",
      "node-1/1",
      "node-1/1",
      "node-2/0",
      "node-2/-1",
      "node-1/-1",
      "/0",
      "/0",
    ]);
  });

  test("kill asks first, and does nothing on any other answer", () => {
    const it = desk();
    it.press("down");

    expect(it.press("k")).toBeUndefined();
    expect(it.press("n")).toBeUndefined();
    expect(it.view.message?.text).toBe("nothing was done");
    it.press("delete");
    expect(it.press("y")).toEqual({ type: "kill", pod: WEB_A });
    expect(it.view.prompt).toBeUndefined();
  });

  test("fail asks first, and gives power back at once", () => {
    const it = desk();
    it.press("down", "f");
    expect(it.press("y")).toEqual({ type: "power", node: "node-1", isOn: false });
    it.press("right");
    expect(it.press("f")).toEqual({ type: "power", node: "node-2", isOn: true });
    it.press("end");
    expect(it.press("f")).toBeUndefined();
    expect(it.view.message).toEqual({
      text: "real-1 is no simulated node: its power cannot be cut from here",
      isError: true,
    });
  });

  test("plus and minus scale, w and Enter ask why", () => {
    const it = desk();
    expect(it.press("+")).toBeUndefined();
    expect(it.view.message?.isError).toBe(true);
    it.press("down");
    expect(it.press("+")).toEqual({ type: "scale", pod: WEB_A, by: 1 });
    expect(it.press("-")).toEqual({ type: "scale", pod: WEB_A, by: -1 });
    expect(it.press("w")).toEqual({ type: "why", kind: "Pod", namespace: "default", name: "web-a" });
    it.press("up");
    expect(it.press("enter")).toEqual({ type: "why", kind: "Node", namespace: "", name: "node-1" });
    it.press("tab", "down", "down");
    expect(it.press("enter")).toEqual({ type: "why", kind: "Pod", namespace: "default", name: "web-a" });
    it.press("up");
    expect(it.press("w")).toEqual({ type: "why", kind: "ReplicaSet", namespace: "default", name: "web-b" });
  });

  test("a filter is applied while it is typed, and Escape brings the former one back", () => {
    const it = desk();
    it.press("/", "d", "b", "x", "backspace");
    expect([it.view.filter, it.model.boxes.map(({ name }) => name)]).toEqual(["db", ["node-2"]]);
    it.press("enter", "/", "q");
    expect(it.model.boxes).toEqual([]);
    it.press("escape");
    expect([it.view.filter, it.view.prompt, it.model.boxes.length]).toEqual(["db", undefined, 1]);
    it.press("escape");
    expect([it.view.filter, it.model.boxes.length]).toEqual(["", 3]);
  });

  test("zoom goes through the forms, and quit ends", () => {
    const it = desk();
    const forms = ["z", "z", "z", "z"].map((key) => {
      it.press(key);
      return it.layout.grid.form;
    });

    expect(forms).toEqual(["box", "line", "dot", "list"]);
    expect(it.press("q")).toEqual({ type: "quit" });
  });

  test("a panel scrolls within its lines and closes", () => {
    const it = desk(110, 24);
    const lines = Array.from({ length: 40 }, (_, at) => `line ${String(at)}`);
    it.view = { ...it.view, panel: { title: "why", lines, firstLine: 0 } };
    it.press("page-down");
    const second = it.view.panel?.firstLine ?? 0;
    it.press("page-down", "page-down", "page-down", "page-down", "page-down", "page-down");
    const text = it.text;

    expect(second).toBeGreaterThan(0);
    expect(text).toContain("line 39");
    it.press("escape");
    expect(it.view.panel).toBeUndefined();
  });
});
