import { describe, expect, test } from "vitest";
import { Endpoints, Event, Namespace, Node, Pod, Service } from "../../src/api/generated/types/core-v1.ts";
import { EndpointSlice } from "../../src/api/generated/types/discovery-v1.ts";
import { silentLog } from "../../src/base/log/log.ts";
import type { Log } from "../../src/base/log/log.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";

const LOOPS = [
  "endpoint-slice-controller",
  "endpoint-controller",
  "endpoint-slice-mirroring-controller",
  "replicaset-controller",
];

describe.each([1, 2])("the endpoints of a Service, seed %s", (seed) => {
  test("are the pods it chooses that have an address, with what can be said of them", async () => {
    await using cluster = await start(seed);
    await createService(cluster, { ports: [{ name: "http", port: 80, targetPort: "web" }] });
    await createPod(cluster, "a", { ip: "10.0.0.1", ready: true });
    await createPod(cluster, "b", { ip: "10.0.0.2", ready: false });
    await createPod(cluster, "c", {});
    await cluster.settle();

    const [slice] = slices(cluster);
    expect(slice?.metadata).toMatchObject({
      labels: {
        "kubernetes.io/service-name": "web",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
        team: "x",
      },
      ownerReferences: [{ kind: "Service", name: "web", controller: true, blockOwnerDeletion: true }],
    });
    expect(slice?.ports).toEqual([{ name: "http", port: 8080, protocol: "TCP" }]);
    expect(slice?.endpoints).toMatchObject([
      {
        addresses: ["10.0.0.1"],
        conditions: { ready: true, serving: true, terminating: false },
        nodeName: "n1",
        zone: "z1",
        targetRef: { kind: "Pod", name: "a", namespace: "default" },
      },
      { addresses: ["10.0.0.2"], conditions: { ready: false, serving: false, terminating: false } },
    ]);
    expect(
      cluster.objects(Endpoints, "default").find(({ metadata }) => metadata.name === "web"),
    ).toMatchObject({
      subsets: [
        {
          addresses: [{ ip: "10.0.0.1", nodeName: "n1", targetRef: { name: "a" } }],
          notReadyAddresses: [{ ip: "10.0.0.2" }],
          ports: [{ name: "http", port: 8080, protocol: "TCP" }],
        },
      ],
    });
  });

  test("say when that happened which made them change", async () => {
    await using cluster = await start(seed);
    const trigger = "endpoints.kubernetes.io/last-change-trigger-time";
    const told = (): readonly (string | undefined)[] =>
      [
        ...slices(cluster),
        ...cluster.objects(Endpoints, "default").filter(({ metadata }) => metadata.name === "web"),
      ].map(({ metadata }) => metadata.annotations?.[trigger]);
    await createService(cluster, {});
    await cluster.settle();
    const made = (await cluster.client(Service).get({ name: "web" })).metadata.creationTimestamp;
    expect(told()).toEqual([made, made]);

    const lastTransitionTime = "2026-01-01T00:02:00Z";
    const pod = await cluster.client(Pod).create({
      metadata: { name: "a", labels: { app: "web" } },
      spec: { nodeName: "n1", containers: [{ name: "web", image: "web" }] },
    });
    const conditions = [{ type: "Ready", status: "True", lastTransitionTime }] as const;
    await cluster
      .client(Pod)
      .updateStatus(pod, { podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }], conditions });
    await cluster.settle();
    expect(told()).toEqual([lastTransitionTime, lastTransitionTime]);

    const changes = { metadata: { labels: { team: "y" } } };
    await cluster.client(Service).patch({ name: "web" }, { type: "merge", changes });
    await cluster.settle();
    expect(told()).toEqual([undefined, undefined]);
  });

  test("tell for which zone they are when the Service asks for it, and its events say so", async () => {
    await using cluster = await start(seed);
    const mode = "service.kubernetes.io/topology-mode";
    const hints = (): readonly string[] =>
      slices(cluster)
        .flatMap(({ endpoints }) => endpoints)
        .map((endpoint) => endpoint.hints?.forZones?.map(({ name }) => name).join() ?? "");
    const addNode = async (name: string, zone: string): Promise<void> => {
      await cluster.client(Node).create({
        metadata: { name, labels: { "topology.kubernetes.io/zone": zone } },
        status: { allocatable: { cpu: "4" }, conditions: [{ type: "Ready", status: "True" }] },
      });
    };
    await addNode("z1", "z1");
    await addNode("z2", "z2");
    await createPod(cluster, "a", { ip: "10.0.0.1", ready: true, nodeName: "z1" });
    await createPod(cluster, "b", { ip: "10.0.0.2", ready: true, nodeName: "z2" });
    await createPod(cluster, "c", { ip: "10.0.0.3", ready: true, nodeName: "z2" });
    await createPod(cluster, "d", { ip: "10.0.0.4", ready: true, nodeName: "z2" });
    await createService(cluster, {});
    const annotate = (value: string | null): Promise<Service> => {
      const changes = { metadata: { annotations: { [mode]: value } } };
      return cluster.client(Service).patch({ name: "web" }, { type: "merge", changes });
    };
    await annotate("Auto");
    await cluster.settle();
    expect(hints().toSorted()).toEqual(["z1", "z1", "z2", "z2"]);

    for (const zone of ["z3", "z4", "z5"]) await addNode(zone, zone);
    await cluster.settle();
    expect(new Set(hints())).toEqual(new Set([""]));

    for (const name of ["z3", "z4", "z5"]) await cluster.client(Node).delete({ name });
    await createPod(cluster, "e", { ip: "10.0.0.5", ready: true, nodeName: "z1" });
    await createPod(cluster, "f", { ip: "10.0.0.6", ready: true, nodeName: "z1" });
    await cluster.settle();
    expect(hints().toSorted()).toEqual(["z1", "z1", "z1", "z2", "z2", "z2"]);

    await annotate(null);
    await cluster.settle();
    expect(new Set(hints())).toEqual(new Set([""]));
    const events = cluster
      .objects(Event, "default")
      .filter(({ reason = "" }) => reason.startsWith("Topology"));
    expect(events.map(({ reason = "", message = "" }) => `${reason}: ${message}`)).toEqual(
      expect.arrayContaining([
        "TopologyAwareHintsEnabled: Topology Aware Hints has been enabled, addressType: IPv4",
        "TopologyAwareHintsDisabled: Insufficient number of endpoints (4 endpoints, 5 zones), addressType: IPv4",
        "TopologyAwareHintsDisabled: Topology Aware Hints has been disabled, addressType: IPv4",
      ]),
    );
  });

  test("show a pod on its way out as terminating in slices, and not at all in Endpoints", async () => {
    await using cluster = await start(seed);
    await createService(cluster, {});
    await createPod(cluster, "a", { ip: "10.0.0.1", ready: true });
    await cluster.settle();

    await cluster.client(Pod).delete({ name: "a" });
    await cluster.settle();

    expect(slices(cluster)[0]?.endpoints[0]?.conditions).toEqual({
      ready: false,
      serving: true,
      terminating: true,
    });
    expect(
      cluster.objects(Endpoints, "default").find(({ metadata }) => metadata.name === "web")?.subsets,
    ).toBeUndefined();
  });

  test("of a headless Service that publishes all are ready whatever the pods say", async () => {
    await using cluster = await start(seed);
    await createService(cluster, { clusterIP: "None", publishNotReadyAddresses: true });
    await createPod(cluster, "a", { ip: "10.0.0.1", ready: false, hostname: "a", subdomain: "web" });
    await cluster.settle();

    const [slice] = slices(cluster);
    expect(slice?.metadata.labels).toHaveProperty("service.kubernetes.io/headless", "");
    expect(slice?.endpoints).toMatchObject([{ hostname: "a", conditions: { ready: true, serving: false } }]);
  });

  test("without any pod are one empty slice", async () => {
    await using cluster = await start(seed);
    await createService(cluster, {});
    await cluster.settle();

    expect(slices(cluster).map(({ endpoints, ports }) => [endpoints ?? [], ports ?? []])).toEqual([[[], []]]);
  });

  test("follow labels of pods and of the Service, and come back when a slice is deleted or changed", async () => {
    await using cluster = await start(seed);
    await createService(cluster, {});
    await createPod(cluster, "a", { ip: "10.0.0.1", ready: true });
    await createPod(cluster, "b", { ip: "10.0.0.2", ready: true });
    await cluster.settle();
    const relabelled = { metadata: { labels: { app: "other" } } };
    await cluster.client(Pod).patch({ name: "b" }, { type: "merge", changes: relabelled });
    await cluster.settle();
    const [slice] = slices(cluster);
    expect(slice?.endpoints).toHaveLength(1);

    await cluster.client(EndpointSlice).delete(slice as EndpointSlice);
    await cluster.settle();
    expect(slices(cluster)[0]?.endpoints).toHaveLength(1);

    await cluster
      .client(EndpointSlice)
      .patch(slices(cluster)[0] as EndpointSlice, { type: "merge", changes: { endpoints: [] } });
    await cluster.settle();
    expect(slices(cluster)[0]?.endpoints).toHaveLength(1);
  });

  test("that a user wrote are mirrored into slices", async () => {
    await using cluster = await start(seed);
    await cluster.client(Service).create({ metadata: { name: "db" }, spec: { ports: [{ port: 5432 }] } });
    await cluster.client(Endpoints).create({
      metadata: { name: "db", labels: { a: "b" } },
      subsets: [{ addresses: [{ ip: "192.0.2.7" }], ports: [{ port: 5432 }] }],
    });
    await cluster.settle();

    const [slice] = cluster
      .objects(EndpointSlice, "default")
      .filter(({ metadata }) => metadata.labels?.["kubernetes.io/service-name"] === "db");
    expect(slice).toMatchObject({
      metadata: {
        labels: {
          a: "b",
          "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io",
        },
      },
      endpoints: [{ addresses: ["192.0.2.7"], conditions: { ready: true } }],
    });
    expect(kubernetesSlices(cluster)).toEqual(["kubernetes"]);
  });

  test("are not shown while the node of their pod is not there, unless all are to be published", async () => {
    await using cluster = await start(seed);
    await createService(cluster, {});
    await createService(cluster, { clusterIP: "None", publishNotReadyAddresses: true }, "all");
    await createPod(cluster, "a", { ip: "10.0.0.1", ready: true, nodeName: "n2" });
    await cluster.settle();
    expect(slices(cluster)[0]?.endpoints).toEqual([]);
    expect(slices(cluster, "all")[0]?.endpoints).toHaveLength(1);

    await cluster.client(Node).create({ metadata: { name: "n2" } });
    await cluster.settle();
    expect(slices(cluster)[0]?.endpoints).toHaveLength(1);

    await cluster.client(Node).delete({ name: "n2" });
    await cluster.settle();
    expect(slices(cluster)[0]?.endpoints).toEqual([]);
  });

  test("stay in the same slice when the first pod comes, and when the port changes", async () => {
    await using cluster = await start(seed);
    await createService(cluster, {});
    await cluster.settle();
    const [empty] = slices(cluster);

    await createPod(cluster, "a", { ip: "10.0.0.1", ready: true });
    await cluster.settle();
    const [filled] = slices(cluster);
    const changes = { spec: { ports: [{ port: 80, targetPort: 8080 }] } };
    await cluster.client(Service).patch({ name: "web" }, { type: "merge", changes });
    await cluster.settle();

    expect(filled?.ports).toEqual([{ name: "", port: 80, protocol: "TCP" }]);
    expect(slices(cluster)).toMatchObject([
      { metadata: { uid: empty?.metadata.uid }, ports: [{ port: 8080 }], endpoints: [{ nodeName: "n1" }] },
    ]);
    expect(filled?.metadata.uid).toBe(empty?.metadata.uid);
  });

  test("of one subset that a user wrote are one slice, of the first thousand", async () => {
    await using cluster = await start(seed);
    await cluster.client(Service).create({ metadata: { name: "db" }, spec: { ports: [{ port: 5432 }] } });
    const addresses = Array.from({ length: 1002 }, (_, at) => ({ ip: `10.1.${at >> 8}.${at & 255}` }));
    await cluster.client(Endpoints).create({
      metadata: { name: "db" },
      subsets: [{ addresses, ports: [{ port: 5432 }] }],
    });
    await cluster.settle();

    const lengths = slices(cluster, "db").map(({ endpoints }) => endpoints.length);
    expect(lengths).toEqual([1000]);
    const told = cluster.objects(Event).filter(({ reason }) => reason === "TooManyAddressesToMirror");
    expect(told.map(({ message }) => message)).toEqual([
      "A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 2 addresses were skipped",
    ]);
  });

  test("follow the pods for as long as a finalizer keeps the Service that is deleted", async () => {
    await using cluster = await start(seed);
    await createService(cluster, {});
    await createPod(cluster, "a", { ip: "10.0.0.1", ready: true });
    const changes = { metadata: { finalizers: ["example.com/balancer"] } };
    await cluster.client(Service).patch({ name: "web" }, { type: "merge", changes });
    await cluster.settle();

    await cluster.client(Service).delete({ name: "web" });
    await createPod(cluster, "b", { ip: "10.0.0.2", ready: true });
    await cluster.settle();
    expect(slices(cluster).map(({ endpoints }) => endpoints.length)).toEqual([2]);
    expect((await cluster.client(Endpoints).get({ name: "web" })).subsets?.[0]?.addresses).toHaveLength(2);

    for (const slice of slices(cluster)) await cluster.client(EndpointSlice).delete(slice);
    await cluster.settle();
    expect(slices(cluster)).toEqual([]);
  });

  test("are not made in a namespace that is going, nor tried again", async () => {
    const warnings: string[] = [];
    const log: Log = { ...silentLog, warn: (message) => void warnings.push(message), with: () => log };
    await using cluster = await startCluster({ clock: "virtual", seed, loops: LOOPS, log });
    const namespace = "going";
    await cluster.client(Namespace).create({ metadata: { name: namespace } });
    for (const [name, spec] of Object.entries({ web: { selector: { app: "web" } }, hand: {} }))
      await cluster.client(Service).create({
        metadata: { name, namespace },
        spec: { ports: [{ port: 80 }], ...spec },
      });
    await cluster.client(Endpoints).create({
      metadata: { name: "hand", namespace },
      subsets: [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }],
    });
    await cluster.settle();
    expect(cluster.objects(EndpointSlice, namespace)).toHaveLength(2);

    await cluster.client(Namespace).delete({ name: namespace });
    for (const slice of cluster.objects(EndpointSlice, namespace))
      await cluster.client(EndpointSlice).delete(slice);
    await cluster.client(Endpoints).delete({ name: "web", namespace });
    await cluster.settle();

    expect(cluster.objects(EndpointSlice, namespace)).toEqual([]);
    expect(warnings).toEqual([]);
  });

  test("are not touched any more once everything is as it should be", async () => {
    await using cluster = await start(seed);
    await createService(cluster, {});
    await createPod(cluster, "a", { ip: "10.0.0.1", ready: true });
    await cluster.settle();
    const before = [cluster.objects(EndpointSlice), cluster.objects(Endpoints)];

    await cluster.clock.advance("3h");

    expect([cluster.objects(EndpointSlice), cluster.objects(Endpoints)]).toEqual(before);
  });
});

async function start(seed: number): Promise<Cluster> {
  const cluster = await startCluster({ clock: "virtual", seed, loops: LOOPS });
  await cluster.client(Node).create({
    metadata: { name: "n1", labels: { "topology.kubernetes.io/zone": "z1" } },
  });
  return cluster;
}

async function createService(cluster: Cluster, spec: Partial<Service["spec"]>, name = "web"): Promise<void> {
  await cluster.client(Service).create({
    metadata: { name, labels: { team: "x" } },
    spec: { selector: { app: "web" }, ports: [{ port: 80 }], ...spec },
  });
}

interface PodOptions {
  readonly ip?: string;
  readonly ready?: boolean;
  readonly hostname?: string;
  readonly subdomain?: string;
  readonly nodeName?: string;
}

async function createPod(cluster: Cluster, name: string, { ip, ready, ...spec }: PodOptions): Promise<void> {
  const containers = [{ name: "web", image: "web", ports: [{ name: "web", containerPort: 8080 }] }];
  const pod = await cluster.client(Pod).create({
    metadata: { name, labels: { app: "web" } },
    spec: { nodeName: "n1", containers, ...spec },
  });
  if (ip === undefined) return;
  await cluster.client(Pod).updateStatus(pod, {
    phase: "Running",
    podIP: ip,
    podIPs: [{ ip }],
    conditions: [{ type: "Ready", status: ready === true ? "True" : "False" }],
  });
}

function slices(cluster: Cluster, service = "web"): readonly EndpointSlice[] {
  return cluster
    .objects(EndpointSlice, "default")
    .filter(({ metadata }) => metadata.labels?.["kubernetes.io/service-name"] === service);
}

function kubernetesSlices(cluster: Cluster): readonly string[] {
  return cluster
    .objects(EndpointSlice, "default")
    .filter(({ metadata }) => metadata.labels?.["kubernetes.io/service-name"] === "kubernetes")
    .map(({ metadata }) => metadata.name);
}
