/** Property tests on random clusters: victims suffice, each is needed and less important, and the search changes nothing. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Node, Pod } from "../../api/generated/types/core-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import { makeProfile } from "../framework/fixture.ts";
import { Nominations } from "../framework/nominations.ts";
import { ClusterSnapshot } from "../snapshot/cluster-snapshot.ts";
import { podInfo, type PodInfo } from "../snapshot/pod-info.ts";
import { PodShapes } from "../snapshot/pod-shape.ts";
import { planPreemption, type PreemptionPlan } from "./preemption-plan.ts";

const CPU = 6;
const PREEMPTED = { type: "DisruptionTarget", status: "True", reason: "PreemptionByScheduler" };

interface PodSpec {
  readonly cpu: number;
  readonly priority: number;
  readonly isApart: boolean;
}

const podSpecs: fc.Arbitrary<PodSpec> = fc.record({
  cpu: fc.integer({ min: 1, max: 4 }),
  priority: fc.integer({ min: 0, max: 4 }),
  isApart: fc.boolean(),
});

const clusters = fc.record({
  nodes: fc.array(fc.array(podSpecs, { maxLength: 5 }), { minLength: 1, maxLength: 4 }),
  incoming: podSpecs,
});

const shapes = new PodShapes();

function makePod(name: string, { cpu, priority, isApart }: PodSpec): PodInfo {
  const term = { topologyKey: "host", labelSelector: { matchLabels: { app: "x" } } };
  const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  const object = incomplete<Pod>({
    metadata: { name, namespace: "default", uid: name, labels: isApart ? { app: "x" } : {} },
    spec: {
      priority,
      containers: [{ name: "main", resources: { requests: { cpu: String(cpu) } } }],
      ...(isApart ? { affinity } : {}),
    },
    status: {},
  });
  return podInfo(object, shapes);
}

function build(nodes: readonly (readonly PodSpec[])[]): ClusterSnapshot {
  const snapshot = new ClusterSnapshot();
  for (const [n, specs] of nodes.entries()) {
    const name = `node-${String(n)}`;
    const status = { allocatable: { cpu: String(CPU), pods: "10" } };
    snapshot.addNode(incomplete<Node>({ metadata: { name, labels: { host: name } }, spec: {}, status }));
    // Nodes may be overcommitted: another scheduler may have placed pods there.
    for (const [i, spec] of specs.entries()) snapshot.addPod(makePod(`${name}-${String(i)}`, spec), name);
  }
  return snapshot;
}

function plan(
  snapshot: ClusterSnapshot,
  pod: PodInfo,
  nominations = new Nominations(),
): PreemptionPlan | undefined {
  const profile = makeProfile(snapshot, nominations);
  const placement = profile.place({ pod });
  if (placement.type === "node") return undefined;
  return planPreemption({ pod }, placement.diagnosis, {
    profile,
    snapshot,
    nominations,
    budgets: [],
    isPreempting: false,
    random: new VirtualLoop({ seed: 1 }).random("preemption"),
  });
}

function sums(snapshot: ClusterSnapshot): unknown {
  return [...snapshot.nodes].map(({ name, requested, pods }) => [
    name,
    requested.milliCpu,
    [...pods.keys()].toSorted(),
  ]);
}

test("the victims suffice, and each is needed", () => {
  fc.assert(
    fc.property(clusters, ({ nodes, incoming }) => {
      const snapshot = build(nodes);
      const pod = makePod("incoming", incoming);
      const found = plan(snapshot, pod);
      if (found?.type !== "preempt") return;
      const { node, victims } = found.candidate;
      const profile = makeProfile(snapshot);

      for (const victim of victims) {
        expect(victim.priority).toBeLessThan(pod.priority);
        snapshot.detach(victim, node);
      }
      expect(profile.checkNode({ pod }, node)).toBeUndefined();
      for (const victim of victims) {
        snapshot.attach(victim, node);
        expect(profile.checkNode({ pod }, node)).toBeDefined();
        snapshot.detach(victim, node);
      }
    }),
    { numRuns: 200 },
  );
});

test("preemption is unhelpful only if no set of victims suffices", () => {
  fc.assert(
    fc.property(clusters, ({ nodes, incoming }) => {
      const snapshot = build(nodes);
      const pod = makePod("incoming", incoming);
      const found = plan(snapshot, pod);
      if (found?.type !== "unhelpful") return;

      for (const node of snapshot.nodes) {
        const lower = [...node.pods.values()].filter(({ priority }) => priority < pod.priority);
        for (const each of lower) snapshot.detach(each, node);
        expect(makeProfile(snapshot).checkNode({ pod }, node)).toBeDefined();
        for (const each of lower) snapshot.attach(each, node);
      }
    }),
    { numRuns: 200 },
  );
});

test.each<[string, readonly object[], PreemptionPlan["type"]]>([
  ["waited for if it was preempted", [PREEMPTED], "ineligible"],
  ["not waited for if it was deleted", [], "preempt"],
  [
    "not waited for if another component evicts it",
    [{ ...PREEMPTED, reason: "EvictionByEvictionAPI" }],
    "preempt",
  ],
])("a terminating pod on the nominated node is %s", (_, conditions, type) => {
  const snapshot = build([[], [{ cpu: CPU, priority: 1, isApart: false }]]);
  const leaving = makePod("leaving", { cpu: CPU, priority: 0, isApart: false });
  const { pod } = leaving;
  snapshot.addPod(
    { ...leaving, isTerminating: true, pod: { ...pod, status: { conditions } } as Pod },
    "node-0",
  );
  const incoming = makePod("incoming", { cpu: CPU, priority: 4, isApart: false });
  const nominations = new Nominations();
  nominations.nominate(incoming, "node-0");

  expect(plan(snapshot, incoming, nominations)?.type).toBe(type);
});

test("the search for victims leaves the snapshot unchanged", () => {
  fc.assert(
    fc.property(clusters, ({ nodes, incoming }) => {
      const snapshot = build(nodes);
      const before = sums(snapshot);
      plan(snapshot, makePod("incoming", incoming));

      expect(sums(snapshot)).toEqual(before);
    }),
    { numRuns: 200 },
  );
});
