/** Compares the incremental counts with the plain rules on random clusters. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Node, Pod } from "../../api/generated/types/core-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import { ClusterSnapshot } from "../snapshot/cluster-snapshot.ts";
import type { NodeInfo } from "../snapshot/node-info.ts";
import { podInfo, type PodInfo } from "../snapshot/pod-info.ts";
import { PodShapes } from "../snapshot/pod-shape.ts";
import { makeProfile } from "./fixture.ts";

const ZONE = "zone";
const HOST = "host";

interface PodSpec {
  readonly app: string;
  readonly cpu: number;
  readonly isApart: boolean;
  readonly isTogether: boolean;
  readonly maxSkew: number | undefined;
}

const podSpecs: fc.Arbitrary<PodSpec> = fc.record({
  app: fc.constantFrom("x", "y"),
  cpu: fc.integer({ min: 0, max: 3 }),
  isApart: fc.boolean(),
  isTogether: fc.boolean(),
  maxSkew: fc.option(fc.integer({ min: 1, max: 2 }), { nil: undefined }),
});

const clusters = fc.record({
  /** Zone of each node; undefined without the label. */
  zones: fc.array(fc.option(fc.constantFrom("1", "2", "3"), { nil: undefined }), {
    minLength: 1,
    maxLength: 6,
  }),
  /** Each pod with its node. */
  placed: fc.array(fc.tuple(podSpecs, fc.nat(5)), { maxLength: 12 }),
  incoming: podSpecs,
});

const shapes = new PodShapes();

function makePod(name: string, { app, cpu, isApart, isTogether, maxSkew }: PodSpec): PodInfo {
  const labelSelector = { matchLabels: { app } };
  const required = (topologyKey: string) => ({
    requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector }],
  });
  const spread = { topologyKey: ZONE, whenUnsatisfiable: "DoNotSchedule", labelSelector } as const;
  return podInfo(
    incomplete<Pod>({
      metadata: { name, namespace: "default", uid: name, labels: { app } },
      spec: {
        containers: [{ name: "main", resources: { requests: { cpu: String(cpu) } } }],
        affinity: {
          ...(isApart ? { podAntiAffinity: required(HOST) } : {}),
          ...(isTogether ? { podAffinity: required(ZONE) } : {}),
        },
        ...(maxSkew === undefined ? {} : { topologySpreadConstraints: [{ ...spread, maxSkew }] }),
      },
      status: {},
    }),
    shapes,
  );
}

function makeNode(name: string, zone: string | undefined): Node {
  const labels = { [HOST]: name, ...(zone === undefined ? {} : { [ZONE]: zone }) };
  return incomplete<Node>({
    metadata: { name, labels },
    spec: {},
    status: { allocatable: { cpu: "6", pods: "5" } },
  });
}

interface Case {
  readonly nodes: readonly NodeInfo[];
  readonly incoming: PodInfo;
  readonly spec: PodSpec;
}

function zoneOf({ node }: NodeInfo): string | undefined {
  return node.metadata.labels?.[ZONE];
}

function has({ pods }: NodeInfo, app: string): boolean {
  return [...pods.values()].some(({ labels }) => labels?.["app"] === app);
}

/** The scheduling rules, written out plainly. */
function mayBeOn(node: NodeInfo, it: Case): boolean {
  return hasRoom(node, it) && isWelcome(node, it) && isAmongOwn(node, it) && isSpread(node, it);
}

function hasRoom({ pods }: NodeInfo, { spec: { cpu } }: Case): boolean {
  let used = 0;
  for (const { shape } of pods.values()) used += shape.requests.milliCpu;
  return pods.size + 1 <= 5 && (cpu === 0 || used + cpu * 1000 <= 6000);
}

function isWelcome(node: NodeInfo, { spec: { app, isApart } }: Case): boolean {
  const isUnwanted = [...node.pods.values()].some(
    ({ labels, affinity }) => labels?.["app"] === app && affinity.requiredAntiAffinity.length > 0,
  );
  return !isUnwanted && !(isApart && has(node, app));
}

function isAmongOwn(node: NodeInfo, { nodes, spec: { app, isTogether } }: Case): boolean {
  if (!isTogether) return true;
  const zone = zoneOf(node);
  if (zone === undefined) return false;
  const isFirst = !nodes.some((other) => zoneOf(other) !== undefined && has(other, app));
  return isFirst || nodes.some((other) => zoneOf(other) === zone && has(other, app));
}

function isSpread(node: NodeInfo, { nodes, spec: { app, maxSkew } }: Case): boolean {
  if (maxSkew === undefined) return true;
  const zone = zoneOf(node);
  if (zone === undefined) return false;
  const counts = new Map<string, number>();
  for (const other of nodes) {
    const place = zoneOf(other);
    if (place === undefined) continue;
    const count = [...other.pods.values()].filter(({ labels }) => labels?.["app"] === app).length;
    counts.set(place, (counts.get(place) ?? 0) + count);
  }
  return (counts.get(zone) ?? 0) + 1 - Math.min(...counts.values()) <= maxSkew;
}

function build({ zones, placed, incoming }: typeof clusters extends fc.Arbitrary<infer T> ? T : never) {
  const snapshot = new ClusterSnapshot();
  const profile = makeProfile(snapshot);
  const nodes = zones.map((zone, n) => snapshot.addNode(makeNode(`node-${String(n)}`, zone)));
  const pod = makePod("incoming", incoming);
  // Called before any pod exists, so that counts are updated incrementally.
  for (const node of nodes) profile.checkNode({ pod }, node);
  for (const [n, [spec, at]] of placed.entries()) {
    snapshot.addPod(makePod(`pod-${String(n)}`, spec), `node-${String(at % nodes.length)}`);
  }
  return { snapshot, profile, nodes, incoming: pod, spec: incoming };
}

describe("a profile", () => {
  test("accepts exactly the nodes that the rules allow", () => {
    fc.assert(
      fc.property(clusters, (cluster) => {
        const { profile, nodes, ...rest } = build(cluster);
        const pod = rest.incoming;
        const found = nodes.map((node) => profile.checkNode({ pod }, node) === undefined);

        expect(found).toEqual(nodes.map((node) => mayBeOn(node, { nodes, ...rest })));
      }),
      { numRuns: 200 },
    );
  });

  test("counts the same after pods were detached and reattached, and nodes removed and added", () => {
    fc.assert(
      fc.property(clusters, fc.nat(5), (cluster, gone) => {
        const { profile, snapshot, nodes, ...rest } = build(cluster);
        const pod = rest.incoming;
        for (const node of nodes) {
          const pods = [...node.pods.values()];
          for (const each of pods) snapshot.detach(each, node);
          for (const each of pods) snapshot.attach(each, node);
        }
        const leaving = nodes[gone % nodes.length];
        if (leaving !== undefined) {
          snapshot.removeNode(leaving);
          snapshot.addNode(leaving.node);
        }
        const now = [...snapshot.nodes];
        const found = now.map((node) => profile.checkNode({ pod }, node) === undefined);

        expect(found).toEqual(now.map((node) => mayBeOn(node, { nodes: now, ...rest })));
      }),
      { numRuns: 150 },
    );
  });

  test("places a pod on a passing node, if there is one", () => {
    fc.assert(
      fc.property(clusters, (cluster) => {
        const { profile, nodes, ...rest } = build(cluster);
        const placement = profile.place({ pod: rest.incoming });
        const fitting = nodes.filter((node) => mayBeOn(node, { nodes, ...rest }));

        if (placement.type === "node") expect(fitting).toContain(placement.node);
        else expect(fitting).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });
});
