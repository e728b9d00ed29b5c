import { describe, expect, test } from "vitest";
import type { ClusterModel } from "./cluster-model.ts";
import { Desk, eventOf, modelOf, nodeOf, podOf } from "./fixture.ts";

function small(): ClusterModel {
  return modelOf({
    nodes: [
      nodeOf("node-1"),
      nodeOf("node-2", { isDown: true, isReady: false }),
      nodeOf("node-3", { isCordoned: true }),
    ],
    pods: [
      podOf("web-a", { node: "node-1" }),
      podOf("web-b", { node: "node-1", phase: "creating" }),
      podOf("job-c", { node: "node-2", phase: "failing", status: "CrashLoopBackOff", restarts: 4 }),
      podOf("big-d"),
    ],
    events: [
      eventOf("web-a"),
      eventOf("job-c", { reason: "BackOff", isWarning: true, count: 5, message: "restarting" }),
    ],
  });
}

describe("the screen of watch", () => {
  test("has a list of pods for each node where there is room", () => {
    expect(new Desk(small(), 110, 24).text).toMatchInlineSnapshot(`
      "● dev  2 of 3 nodes ready  4 pods  ○ 1 ◔ 1 ● 1 ↻ 1                     rev 100  12.3 passes/s  0 not converged
      ╭ unscheduled ──────────────────────────────────────────────────────────────────────────────────────────── 1 ╮
      │ ○                                                                                                          │
      ╰────────────────────────────────────────────────────────────────────────────────────────────────────────────╯
      ╭ node-1 ──────────────────── 1/2 ╮ ╭ node-2 power off, not ready ────╮ ╭ node-3 cordoned ───────── empty ╮
      │ ● web-a                         │ │ ↻ job-c                         │ │                                 │
      │ ◔ web-b                         │ │                                 │ │                                 │
      │                                 │ │                                 │ │                                 │
      │                                 │ │                                 │ │                                 │
      │                                 │ │                                 │ │                                 │
      │                                 │ │                                 │ │                                 │
      │                                 │ │                                 │ │                                 │
      │                                 │ │                                 │ │                                 │
      │                                 │ │                                 │ │                                 │
      │                                 │ │                                 │ │                                 │
      │                                 │ │                                 │ │                                 │
      ╰─────────────────────────────────╯ ╰─────────────────────────────────╯ ╰─────────────────────────────────╯
      ── events ────────────────────────────────────────────────────────────────────────────────────────────────────
       03:04:05  BackOff           Pod job-c ×5                     restarting
       03:04:05  Scheduled         Pod web-a                        assigned to a node


       arrows select a pod or a node
       q quit  ? help  k kill  w why  f fail node  +/- scale  / filter  z zoom  Tab events
      "
    `);
  });

  test("has a sign for each pod where there is less", () => {
    expect(new Desk(small(), 60, 16).text).toMatchInlineSnapshot(`
      "● dev  2 of 3 nodes ready  4 pods  ○ 1 ◔ 1 ● 1 ↻ 1
      │ ○
      ╭ node-1 ──── 1/2 ╮ ╭ node-2 power o… ╮ ╭ node-3 cordoned ╮
      │ ● ◔             │ │ ↻               │ │                 │
      │                 │ │                 │ │                 │
      │                 │ │                 │ │                 │
      │                 │ │                 │ │                 │
      │                 │ │                 │ │                 │
      ╰─────────────────╯ ╰─────────────────╯ ╰─────────────────╯
      ── events ──────────────────────────────────────────────────
       03:04:05  BackOff           Pod job-c ×5      restarting
       03:04:05  Scheduled         Pod web-a         assigned to…


       arrows select a pod or a node
       q quit  ? help  k kill  w why  f fail node  +/- scale
      "
    `);
  });

  test("is useful on the smallest screen", () => {
    expect(new Desk(small(), 40, 10).text).toMatchInlineSnapshot(`
      "● 2/3 nodes 4 pods ○ 1 ◔ 1 ● 1 ↻ 1
      │ ○
      ╭ node-1 ──── 1/2 ╮ ╭ node-2 power o… ╮
      │ ● ◔             │ │ ↻               │
      ╰─────────────────╯ ╰─────────────────╯
      ╭ node-3 cordoned ╮
      │                 │
      ╰─────────────────╯

       q quit  ? help  k kill  w why
      "
    `);
  });

  test("says what it needs on a screen that is too small", () => {
    expect(new Desk(small(), 20, 5).text).toBe("needs 40×10,\nhas 20×5\nq quits\n");
    expect(new Desk(small(), 1, 1).text).toBe("…\n");
  });

  test("has letters in place of shapes without colours, and no other characters without Unicode", () => {
    const desk = new Desk(small(), 60, 16);
    desk.around = { ...desk.around, glyphs: "letters" };
    const letters = desk.text;
    desk.around = { ...desk.around, glyphs: "ascii" };

    expect(letters).toMatch(/4 pods {2}P 1 C 1 R 1 L 1/);
    expect(desk.text).toMatch(/4 pods {2}P 1 C 1 R 1 L 1/);
    expect(desk.text).toMatch(/^[\n -~]*$/);
  });

  test("shows what the selection is, and asks before it deletes", () => {
    const desk = new Desk(small(), 110, 24);
    desk.press("down", "down");
    const selected = desk.text;
    desk.press("k");

    expect(selected).toContain(
      "◔ default/web-b  Running  containers 1/1  restarts 0  on node-1  of ReplicaSet web-1",
    );
    expect(desk.text).toContain("delete Pod default/web-b?  y yes · any other no");
  });

  test("shows what a filter hides as dots", () => {
    const desk = new Desk(small(), 60, 16);
    desk.press("/", "w", "e", "b", "enter");

    expect(desk.text).not.toContain("node-2");
    expect(desk.text).toContain("filter: web Esc clears");
    expect(desk.text).toContain("│ ●");
  });

  test("shows why it may be out of date", () => {
    const desk = new Desk(small(), 110, 24);
    desk.around = { ...desk.around, trouble: "reconnecting: the watch of pods broke: forbidden" };

    expect(desk.text).toContain("reconnecting: the watch of pods broke: forbidden");
  });
});
