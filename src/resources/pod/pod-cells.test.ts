import { describe, expect, test } from "vitest";
import { KindProbe, type Manifest } from "../rules/kind-probe.ts";
import { pod } from "./pod.ts";

const probe = new KindProbe(pod);

const named = (name: string): Manifest => ({ name, image: "a" });
const running = (name: string, more: Manifest = {}): Manifest => ({
  name,
  ready: true,
  started: true,
  state: { running: {} },
  ...more,
});
const waiting = (name: string, reason: string): Manifest => ({ name, state: { waiting: { reason } } });
const ended = (name: string, terminated: Manifest): Manifest => ({
  name,
  state: { terminated: { exitCode: 0, ...terminated } },
});

const cells = (status: Manifest, more: Manifest = {}): readonly unknown[] =>
  probe.cells({ spec: { containers: [named("a")] }, ...more, status });
const READY = [{ type: "Ready", status: "True" }];

describe("the table row of a pod", () => {
  test("shows the wide columns", () => {
    const manifest = {
      spec: { containers: [named("a")], nodeName: "n1", readinessGates: [{ conditionType: "g" }] },
    };

    expect(
      cells({ phase: "Running", podIP: "10.0.0.1", containerStatuses: [running("a")] }, manifest),
    ).toEqual(["it", "1/1", "Running", "0", "2m5s", "10.0.0.1", "n1", "<none>", "0/1"]);
  });

  test.each<[string, Manifest, readonly string[]]>([
    ["a new pod", { phase: "Pending" }, ["0/1", "Pending", "0"]],
    ["an evicted pod", { phase: "Failed", reason: "Evicted" }, ["0/1", "Evicted", "0"]],
    [
      "a crashing pod",
      {
        phase: "Running",
        containerStatuses: [
          {
            ...waiting("a", "CrashLoopBackOff"),
            restartCount: 3,
            lastState: { terminated: { exitCode: 1, finishedAt: "2026-01-02T03:00:00Z" } },
          },
        ],
      },
      ["0/1", "CrashLoopBackOff", "3 (4m5s ago)"],
    ],
    [
      "a completed pod",
      { phase: "Succeeded", containerStatuses: [ended("a", { reason: "Completed" })] },
      ["0/1", "Completed", "0"],
    ],
    [
      "a failed container",
      { phase: "Failed", containerStatuses: [ended("a", { exitCode: 3 })] },
      ["0/1", "ExitCode:3", "0"],
    ],
    [
      "a killed container",
      { phase: "Failed", containerStatuses: [ended("a", { exitCode: 137, signal: 9 })] },
      ["0/1", "Signal:9", "0"],
    ],
    [
      "a gated pod",
      {
        phase: "Pending",
        conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }],
      },
      ["0/1", "SchedulingGated", "0"],
    ],
  ])("shows the state of %s", (_what, status, expected) => {
    expect(cells(status).slice(1, 4)).toEqual(expected);
  });

  test.each<[string, Manifest, readonly string[]]>([
    [
      "the first init container",
      {
        initContainerStatuses: [
          running("i1", { ready: false, started: false }),
          waiting("i2", "PodInitializing"),
        ],
      },
      ["0/1", "Init:0/2", "0"],
    ],
    [
      "the second init container",
      { initContainerStatuses: [ended("i1", {}), { name: "i2", state: { running: {} } }] },
      ["0/1", "Init:1/2", "0"],
    ],
    [
      "a failing init container",
      { initContainerStatuses: [waiting("i1", "CrashLoopBackOff")] },
      ["0/1", "Init:CrashLoopBackOff", "0"],
    ],
    [
      "a failed init container",
      { initContainerStatuses: [ended("i1", { exitCode: 2 })] },
      ["0/1", "Init:ExitCode:2", "0"],
    ],
    [
      "completed init containers",
      {
        phase: "Running",
        initContainerStatuses: [ended("i1", {}), ended("i2", {})],
        containerStatuses: [running("a")],
      },
      ["1/1", "Running", "0"],
    ],
  ])("shows the state of init containers: %s", (_what, status, expected) => {
    const spec = { containers: [named("a")], initContainers: [named("i1"), named("i2")] };

    expect(cells({ phase: "Pending", ...status }, { spec }).slice(1, 4)).toEqual(expected);
  });

  test("counts sidecars as containers", () => {
    const spec = {
      containers: [named("a")],
      initContainers: [{ ...named("side"), restartPolicy: "Always" }],
    };
    const status = {
      phase: "Running",
      initContainerStatuses: [running("side", { restartCount: 2 })],
      containerStatuses: [running("a")],
    };

    expect(cells(status, { spec }).slice(1, 4)).toEqual(["2/2", "Running", "2"]);
  });

  test("ignores restarts of sidecars after a pending init container", () => {
    const spec = {
      containers: [named("a")],
      initContainers: [named("i"), { ...named("side"), restartPolicy: "Always" }],
    };
    const status = {
      phase: "Running",
      conditions: [{ type: "Initialized", status: "True" }],
      initContainerStatuses: [waiting("i", "PodInitializing"), running("side", { restartCount: 2 })],
      containerStatuses: [running("a", { restartCount: 1 })],
    };

    expect(cells(status, { spec }).slice(1, 4)).toEqual(["1/2", "Init:0/2", "1"]);
  });

  test.each([
    [READY, "Running"],
    [[], "NotReady"],
  ])("shows Running or NotReady for a pod with one completed container: %#", (conditions, reason) => {
    const spec = { containers: [named("a"), named("b")] };
    const containerStatuses = [ended("a", { reason: "Completed" }), running("b")];

    expect(cells({ phase: "Running", conditions, containerStatuses }, { spec })[2]).toBe(reason);
  });

  test.each([
    [{ phase: "Running" }, "Terminating"],
    [{ phase: "Running", reason: "NodeLost" }, "Unknown"],
    [{ phase: "Succeeded" }, "Succeeded"],
  ])("of a deleted pod with %o shows %s", (status, reason) => {
    const metadata = { deletionTimestamp: "2026-01-02T03:04:00Z" };

    expect(cells(status, { metadata })[2]).toBe(reason);
  });
});
