import { describe, expect, test } from "vitest";
import type { DaemonSet } from "../../api/generated/types/apps-v1.ts";
import type { Node, Pod, PodSpec, Taint } from "../../api/generated/types/core-v1.ts";
import { REVISION_HASH } from "../revisions/revisions.ts";
import { FAILURES, fitnessFor, newDaemon, nodeOf } from "./daemon-pods.ts";
import { isUpdated, viewOf } from "./daemon-view.ts";
import { planPods } from "./plan-daemons.ts";
import { planUpdate } from "./plan-update.ts";

const STAMP = "2026-01-01T00:00:00Z";
const NOW = Date.parse(STAMP) + 60_000;

function setOf(spec: Partial<PodSpec> = {}, rolling = {}): DaemonSet {
  const metadata = { name: "agent", uid: "1", resourceVersion: "1", creationTimestamp: STAMP };
  const template = { metadata: {}, spec: { containers: [], ...spec } };
  const updateStrategy = { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, ...rolling } } as const;
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata,
    spec: { selector: {}, template, updateStrategy },
    status: { currentNumberScheduled: 0, desiredNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0 },
  };
}

function nodeNamed(name: string, taints: readonly Taint[] = [], labels = {}): Node {
  const metadata = { name, uid: name, resourceVersion: "1", creationTimestamp: STAMP, labels };
  return { apiVersion: "v1", kind: "Node", metadata, spec: { taints }, status: {} } as Node;
}

describe("a node", () => {
  test.each<[string, Partial<PodSpec>, Partial<Taint>, string]>([
    ["fits", {}, { key: "node.kubernetes.io/not-ready", effect: "NoExecute" }, "fits"],
    ["fits", {}, { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }, "fits"],
    ["fits", {}, { key: "any", effect: "PreferNoSchedule" }, "fits"],
    ["keeps", {}, { key: "any", effect: "NoSchedule" }, "keeps"],
    ["refuses", {}, { key: "any", effect: "NoExecute" }, "refuses"],
    ["fits", { tolerations: [{ operator: "Exists" }] }, { key: "any", effect: "NoExecute" }, "fits"],
    ["keeps", {}, { key: "node.kubernetes.io/network-unavailable", effect: "NoSchedule" }, "keeps"],
    [
      "fits",
      { hostNetwork: true },
      { key: "node.kubernetes.io/network-unavailable", effect: "NoSchedule" },
      "fits",
    ],
  ])("%s a pod with %o in spite of %o", (_, spec, ...[taint, expected]) => {
    expect(fitnessFor(setOf(spec))(nodeNamed("n", [taint as Taint]))).toBe(expected);
  });

  test("must have the selected labels and name", () => {
    const bySelector = fitnessFor(setOf({ nodeSelector: { disk: "ssd" } }));
    const byName = fitnessFor(setOf({ nodeName: "a" }));

    expect([bySelector(nodeNamed("a")), bySelector(nodeNamed("a", [], { disk: "ssd" }))]).toEqual([
      "refuses",
      "fits",
    ]);
    expect([byName(nodeNamed("a")), byName(nodeNamed("b"))]).toEqual(["fits", "refuses"]);
  });
});

describe("a new pod", () => {
  test("is restricted to its node, overriding the template's node affinity", () => {
    const terms = [{ matchExpressions: [{ key: "disk", operator: "In" as const, values: ["ssd"] }] }];
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } };
    const set = setOf({ affinity: { nodeAffinity, podAffinity: {} } });

    const { spec } = newDaemon(set, { node: "a", hash: "h", failures: 0 });

    expect(spec?.affinity?.podAffinity).toEqual({});
    expect(nodeOf({ spec } as Pod)).toBe("a");
  });
});

type State = "failed" | "going" | "ready" | "unready";

function podOn(node: string, state: State, options: { isNew?: boolean; failures?: number } = {}): Pod {
  const { isNew = true, failures } = options;
  const name = `${node}-${state}-${isNew ? "new" : "old"}`;
  const status = state === "unready" ? ("False" as const) : ("True" as const);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      uid: name,
      resourceVersion: "1",
      creationTimestamp: STAMP,
      labels: { [REVISION_HASH]: isNew ? "new" : "old" },
      ...(failures !== undefined && { annotations: { [FAILURES]: String(failures) } }),
      ...(state === "going" && { deletionTimestamp: STAMP }),
    },
    spec: { containers: [], nodeName: node },
    status: {
      phase: state === "failed" ? "Failed" : "Running",
      conditions: [{ type: "Ready", status, lastTransitionTime: STAMP }],
    },
  };
}

function view(pods: readonly Pod[], rolling = {}) {
  const nodes = ["a", "b", "c"].map((name) => nodeNamed(name));
  return viewOf(setOf({}, rolling), { nodes, pods }, { hash: "new", now: NOW });
}

describe("the pods of a DaemonSet", () => {
  test("are created on empty nodes, but not beside a terminating pod", () => {
    const { toCreate, toDelete } = planPods(view([podOn("a", "ready"), podOn("b", "going")]));

    expect(toCreate).toEqual([{ node: "c", failures: 0 }]);
    expect(toDelete).toEqual([]);
  });

  test("are created beside a terminating pod if surge is allowed", () => {
    const rolling = { maxUnavailable: 0, maxSurge: 1 };
    const pods = [podOn("a", "going", { isNew: false }), podOn("b", "ready"), podOn("c", "failed")];

    expect(planPods(view(pods, rolling)).toCreate).toEqual([
      { node: "a", failures: 0 },
      { node: "c", failures: 1 },
    ]);
    expect(planPods(view([...pods, podOn("a", "unready")], rolling)).toCreate).toEqual([
      { node: "c", failures: 1 },
    ]);
  });

  test("stay if they are bound rather than pending", () => {
    const waiting = podOn("a", "unready");
    const spec = newDaemon(setOf(), { node: "a", hash: "new", failures: 0 }).spec as PodSpec;
    const pods = [{ ...waiting, spec }, podOn("a", "ready"), podOn("b", "ready"), podOn("c", "ready")];
    const older = {
      ...pods[0],
      metadata: { ...waiting.metadata, creationTimestamp: "2025-01-01T00:00:00Z" },
    };

    expect(planPods(view([older as Pod, ...pods.slice(1)])).toDelete).toEqual([older]);
  });

  test("are deleted if surplus, the youngest first", () => {
    const pods = [podOn("a", "ready"), podOn("a", "unready"), podOn("b", "ready"), podOn("c", "ready")];

    expect(planPods(view(pods)).toDelete.map(({ metadata }) => metadata.name)).toEqual(["a-unready-new"]);
  });

  test("are replaced after the back-off if they failed, and pass their failures on", () => {
    const pods = [
      podOn("a", "failed", { failures: 3 }),
      podOn("b", "failed", { failures: 7 }),
      podOn("c", "ready"),
    ];

    const plan = planPods(view(pods));

    expect(plan.toCreate).toEqual([{ node: "a", failures: 4 }]);
    expect(plan.toDelete).toEqual([pods[0]]);
    expect(plan.waitMs).toBe(128_000 - 60_000);
  });
});

describe("a pod of a DaemonSet", () => {
  test("is current by its hash or by its template generation", () => {
    const metadata = { annotations: { "deprecated.daemonset.template.generation": "3" } };
    const base = setOf();
    const set = { ...base, metadata: { ...base.metadata, ...metadata } };
    const isOf = (labels: Readonly<Record<string, string>>): boolean => {
      const pod = podOn("a", "ready");
      return isUpdated({ ...pod, metadata: { ...pod.metadata, labels } }, { set, hash: "new" });
    };

    expect(newDaemon(set, { node: "a", hash: "new", failures: 0 }).metadata?.labels).toEqual({
      "pod-template-generation": "3",
      "controller-revision-hash": "new",
    });
    expect(isOf({ "pod-template-generation": "2", "controller-revision-hash": "new" })).toBe(true);
    expect(isOf({ "pod-template-generation": "3", "controller-revision-hash": "old" })).toBe(true);
    expect(isOf({ "pod-template-generation": "2", "controller-revision-hash": "old" })).toBe(false);
  });
});

describe("the update of a DaemonSet", () => {
  const old = { isNew: false };
  const names = (pods: readonly Pod[]): readonly string[] => pods.map(({ metadata }) => metadata.name);

  test("replaces unavailable pods at once and the others within maxUnavailable", () => {
    const pods = [podOn("a", "ready", old), podOn("b", "unready", old), podOn("c", "ready", old)];

    expect(names(planUpdate(view(pods)).toDelete)).toEqual(["b-unready-old", "a-ready-old"]);
  });

  test("waits for new pods that are not ready", () => {
    const pods = [podOn("a", "ready", old), podOn("b", "unready"), podOn("c", "ready", old)];

    expect(names(planUpdate(view(pods)).toDelete)).toEqual([]);
    expect(names(planUpdate(view(pods, { maxUnavailable: 2 })).toDelete)).toEqual(["a-ready-old"]);
  });

  test("creates new pods beside old ones within maxSurge, and deletes the old once the new are ready", () => {
    const rolling = { maxUnavailable: 0, maxSurge: 1 };
    const [a, b, c] = ["a", "b", "c"].map((node) => podOn(node, "ready", old)) as [Pod, Pod, Pod];

    expect(planUpdate(view([a, b, c], rolling)).toSurge).toEqual(["a"]);
    expect(planUpdate(view([a, b, c, podOn("a", "unready")], rolling))).toEqual({
      toDelete: [],
      toSurge: [],
    });
    expect(planPods(view([a, b, c, podOn("a", "ready")], rolling)).toDelete).toEqual([a]);
  });
});
