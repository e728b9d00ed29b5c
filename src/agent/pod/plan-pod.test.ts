import { describe, expect, test } from "vitest";
import type { Container, Pod, Probe } from "../../api/generated/types/core-v1.ts";
import type { ConfigFinding } from "./config-needs.ts";
import { NEW_CONTAINER, type ContainerRecord, type Exit, type ProbeStatus } from "./container-record.ts";
import { planPod } from "./plan-pod.ts";
import type { PodFacts } from "./pod-facts.ts";
import { CONFIG_ERROR } from "./pod-plan.ts";
import { podStatus } from "./pod-status.ts";

const NOW = 1_000_000;
const RUNNING: ContainerRecord = {
  ...NEW_CONTAINER,
  phase: { type: "running", id: "1", startedAt: 0, probes: {}, asked: new Set(), killAt: undefined },
};

const INSPECTED: ContainerRecord = {
  ...NEW_CONTAINER,
  phase: { type: "inspected", image: { id: "web@sha256:1" } },
};

describe("the plan for a pod", () => {
  test("starts all containers together without init containers", () => {
    const plan = planPod(facts({ containers: [web("a"), web("b")] }), NOW);

    expect(words(plan)).toEqual(["start a", "start b"]);
  });

  test("starts init containers one after the other, and the rest when they are done", () => {
    const spec = { initContainers: [web("one"), web("two")], containers: [web("a")] };

    expect(words(planPod(facts(spec), NOW))).toEqual(["start one"]);
    expect(words(planPod(facts(spec, { one: exited(0) }), NOW))).toEqual(["start two"]);
    expect(words(planPod(facts(spec, { one: exited(0), two: exited(0) }), NOW))).toEqual(["start a"]);
  });

  test("continues after a sidecar once the sidecar has started", () => {
    const side = { ...web("side"), restartPolicy: "Always", startupProbe: {} };
    const spec = { initContainers: [side], containers: [web("a")] };

    expect(words(planPod(facts(spec, { side: RUNNING }), NOW))).toEqual(["probe side"]);
    expect(words(planPod(facts(spec, { side: probed("startup", "passes") }), NOW))).toContain("start a");
  });

  test("looks for an image before it pulls one, and refuses invalid image names", () => {
    const names = ["a", "b", "c", "d", "e"];
    const [a, b, c, d, e] = names.map(web);
    const containers = [
      { ...a, imagePullPolicy: "Always" as const },
      { ...b, image: "B" },
      { ...c },
      { ...d },
      { ...e, imagePullPolicy: "Never" as const },
    ] as Container[];
    const missing = { ...NEW_CONTAINER, phase: { type: "inspected", image: undefined } } as const;
    const records = { a: NEW_CONTAINER, b: NEW_CONTAINER, c: NEW_CONTAINER, d: missing, e: missing };

    const plan = planPod(facts({ containers }, records), NOW);

    expect(words(plan)).toEqual(["pull a", "refuse b", "inspect c", "pull d", "refuse e"]);
  });

  test("schedules a recheck for the end of a back-off", () => {
    const crashed = { ...exited(1), crashes: { delayMs: 10_000, at: NOW - 1000 } };
    const plan = planPod(facts({ containers: [web("a")] }, { a: crashed }), NOW);

    expect(plan).toMatchObject({ actions: [], recheck: { at: NOW + 9000, kind: "periodic" } });
  });

  test("stops a container whose liveness probe fails", () => {
    const spec = { containers: [{ ...web("a"), livenessProbe: {} }] };

    expect(words(planPod(facts(spec, { a: probed("liveness", "fails") }), NOW))).toContain("stop a");
  });

  test("replaces a container with a changed image under any restart policy", () => {
    const spec = { restartPolicy: "Never" as const, containers: [web("a"), web("b")] };
    const old = { ...RUNNING, image: "web:0" };
    const ended = exited(143);
    const replaced = { ...ended, image: "web:0", exit: { ...endOf(ended), isReplaced: true } };

    const plan = planPod(facts(spec, { a: old, b: { ...RUNNING, image: "web:1" } }), NOW);
    expect(words(plan)).toEqual(["stop a"]);
    expect(plan.actions).toMatchObject([
      { isReplaced: true, message: "Container a definition changed, will be restarted" },
    ]);
    expect(words(planPod(facts(spec, { a: replaced, b: RUNNING }), NOW))).toEqual(["inspect a"]);
    expect(planPod(facts(spec, { a: ended, b: RUNNING }), NOW).actions).toEqual([]);
  });

  test("skips the back-off of a crashed container once its image changes", () => {
    const crashed = { ...exited(1), image: "web:0", crashes: { delayMs: 300_000, at: NOW - 1000 } };

    expect(words(planPod(facts({ containers: [web("a")] }, { a: crashed }), NOW))).toEqual(["inspect a"]);
  });

  test("holds a container that cannot be created until the pod changes", () => {
    const env = [{ name: "DIR", valueFrom: { fieldRef: { fieldPath: "metadata.annotations['dir']" } } }];
    const volumeMounts = [{ name: "data", mountPath: "/data", subPathExpr: "$(DIR)/web" }];
    const spec = { containers: [{ ...web("a"), env, volumeMounts }] };
    const reason = "CreateContainerConfigError";
    const held: ContainerRecord = {
      ...NEW_CONTAINER,
      phase: { type: "unpullable", reason, message: "", failedAt: NOW, retryAt: undefined },
    };

    expect(planPod(facts(spec), NOW).actions).toMatchObject([{ type: "refuse", reason }]);
    expect(planPod(facts(spec, { a: held }), NOW).actions).toEqual([]);
    expect(words(planPod(facts(spec, { a: held }, { annotations: { dir: "x" } }), NOW))).toEqual([
      "inspect a",
    ]);
  });

  test("starts nothing before the pod's preparation is done, and rechecks then", () => {
    const spec = { initContainers: [web("one")], containers: [web("a")], activeDeadlineSeconds: 2000 };
    const held = { ...facts(spec), hold: { tryAt: NOW + 500 } };

    expect(planPod(held, NOW)).toMatchObject({ actions: [], recheck: { at: NOW + 500, kind: "periodic" } });
    expect(planPod({ ...held, hold: { tryAt: undefined } }, NOW).recheck?.at).toBe(2_000_000);
  });

  test("looks up the sources of an environment before the start", () => {
    const spec = { containers: [web("a")] };
    const outside = (finding: ConfigFinding, record: Partial<ContainerRecord> = {}): PodFacts => ({
      ...facts(spec, { a: { ...INSPECTED, ...record } }),
      hasOutsideEnvironment: () => true,
      checkEnvironment: () => finding,
    });
    const problem: ConfigFinding = { type: "problem", message: 'secret "x" not found' };
    const phase = {
      type: "unpullable",
      reason: CONFIG_ERROR,
      message: "",
      failedAt: 0,
      retryAt: NOW,
    } as const;

    expect(words(planPod(outside({ type: "open" }), NOW))).toEqual(["lookup a"]);
    expect(words(planPod(outside({ type: "open" }, { lookingSince: NOW }), NOW))).toEqual([]);
    expect(words(planPod(outside({ type: "fine" }, { lookingSince: NOW }), NOW))).toEqual(["start a"]);
    expect(planPod(outside(problem, { lookingSince: NOW }), NOW).actions).toMatchObject([
      { type: "refuse", reason: CONFIG_ERROR, message: 'secret "x" not found', retryAfterMs: 10_000 },
    ]);
    expect(words(planPod(outside(problem, { phase }), NOW - 1))).toEqual([]);
    expect(words(planPod(outside(problem, { phase }), NOW))).toEqual(["lookup a"]);
  });

  test("ends main containers first and sidecars last when the pod is deleted", () => {
    const side = { ...web("side"), restartPolicy: "Always" };
    const spec = { initContainers: [side], containers: [web("a")] };
    const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 30 };

    const both = facts(spec, { side: RUNNING, a: RUNNING }, deleted);
    const one = facts(spec, { side: RUNNING, a: exited(143) }, deleted);
    const none = facts(spec, { side: exited(143), a: exited(143) }, deleted);
    expect(words(planPod(both, NOW))).toEqual(["stop a"]);
    expect(words(planPod(one, NOW))).toEqual(["stop side"]);
    expect(planPod(none, NOW)).toMatchObject({ actions: [], hasEnded: true });
  });

  test.each([
    [0, { delayMs: 4000, graceMs: 30_000 }],
    [20, { delayMs: 0, graceMs: 10_000 }],
    [40, { delayMs: 0, graceMs: 2000 }],
  ])("gives a sidecar the time that is left %s seconds after the pod's deletion", (seconds, times) => {
    const lifecycle = { preStop: { sleep: { seconds: 4 } } };
    const side = { ...web("side"), restartPolicy: "Always", lifecycle };
    const deletionTimestamp = new Date(NOW + (30 - seconds) * 1000).toISOString();
    const deleted = { deletionTimestamp, deletionGracePeriodSeconds: 30 };
    const left = facts(
      { initContainers: [side], containers: [web("a")] },
      { side: RUNNING, a: exited(143) },
      deleted,
    );

    expect(planPod(left, NOW).actions).toMatchObject([{ type: "stop", ...times }]);
  });

  test("gives every container at least two seconds to end", () => {
    const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 1 };
    const plan = planPod(facts({ containers: [web("a")] }, { a: RUNNING }, deleted), NOW);

    expect(plan.actions).toMatchObject([{ type: "stop", graceMs: 2000 }]);
  });

  test("is over when no container will run again", () => {
    const spec = { restartPolicy: "Never" as const, containers: [web("a"), web("b")] };
    const done = facts(spec, { a: exited(0), b: exited(2) });

    expect(planPod(done, NOW)).toMatchObject({ hasEnded: true, termination: { type: "finished" } });
    expect(podStatus(done, planPod(done, NOW), NOW).phase).toBe("Failed");
  });

  test("fails a pod when an init container fails permanently, without starting the rest", () => {
    const spec = { restartPolicy: "Never" as const, initContainers: [web("one")], containers: [web("a")] };
    const failed = facts(spec, { one: exited(1), a: NEW_CONTAINER });
    const status = podStatus(failed, planPod(failed, NOW), NOW);

    expect(status.phase).toBe("Failed");
    expect(status.containerStatuses?.[0]?.state).toEqual({ waiting: { reason: "PodInitializing" } });
  });
});

function words({ actions }: ReturnType<typeof planPod>): readonly string[] {
  return actions.map(({ type, container }) => `${type} ${container.name}`);
}

function web(name: string): Container {
  return { name, image: "web:1", resources: {} };
}

function exited(exitCode: number): ContainerRecord {
  const exit = { id: "1", startedAt: NOW - 2000, finishedAt: NOW - 1000, exitCode, reason: "Ended" };
  return { ...NEW_CONTAINER, phase: { type: "exited" }, exit };
}

function endOf({ exit }: ContainerRecord): Exit {
  if (exit === undefined) throw new Error("it has not ended");
  return exit;
}

function probed(type: "startup" | "liveness", before: ProbeStatus): ContainerRecord {
  const result = before === "passes" ? "success" : "failure";
  const probes = { [type]: { result, since: 0, before } } as const;
  const phase = { type: "running", id: "1", startedAt: 0, probes, killAt: undefined } as const;
  return { ...NEW_CONTAINER, phase: { ...phase, asked: new Set(["startup", "readiness", "liveness"]) } };
}

/** The runtime has found the images of all containers. */
function unstarted({ containers, initContainers = [] }: Pod["spec"]): Record<string, ContainerRecord> {
  return Object.fromEntries([...containers, ...initContainers].map(({ name }) => [name, INSPECTED]));
}

function facts(
  spec: Pod["spec"],
  records: Readonly<Record<string, ContainerRecord>> = {},
  metadata: Partial<Pod["metadata"]> = {},
): PodFacts {
  const pod: Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", uid: "1", resourceVersion: "1", creationTimestamp: "", ...metadata },
    spec,
    status: {},
  };
  const probeOf = ({ startupProbe, livenessProbe }: Container, type: string): Probe | undefined =>
    type === "startup" ? startupProbe : type === "liveness" ? livenessProbe : undefined;
  return {
    pod,
    records: new Map(Object.entries({ ...unstarted(spec), ...records })),
    acceptedAt: 0,
    hostAddresses: ["172.18.0.2"],
    addresses: ["10.0.0.2"],
    rejection: undefined,
    sizeProblem: undefined,
    hold: undefined,
    probeOf,
    isMeasuring: false,
    memoryUsedBy: () => 0,
    hasOutsideEnvironment: () => false,
    checkEnvironment: () => ({ type: "fine" }),
  };
}
