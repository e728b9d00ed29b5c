import { describe, expect, test } from "vitest";
import { advertisedAddress } from "./bootstrap/advertised-address.ts";
import { ServerFixture } from "./fixture.ts";

describe("Upkeep", () => {
  test("a new server has the objects that clients take for granted", async () => {
    const server = await ServerFixture.start();

    const namespace = await server.send("GET", "/api/v1/namespaces/kube-system");
    const service = await server.send("GET", "/api/v1/namespaces/default/services/kubernetes");
    const endpoints = await server.send("GET", "/api/v1/namespaces/default/endpoints/kubernetes");
    const slice = await server.send(
      "GET",
      "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes",
    );
    const cidr = await server.send("GET", "/apis/networking.k8s.io/v1/servicecidrs/kubernetes");
    const apiService = await server.send("GET", "/apis/apiregistration.k8s.io/v1/apiservices/v1.apps");
    const priority = await server.send(
      "GET",
      "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical",
    );

    expect(namespace.body["metadata"]).toMatchObject({
      labels: { "kubernetes.io/metadata.name": "kube-system" },
    });
    expect(service.body["spec"]).toMatchObject({
      clusterIP: "10.96.0.1",
      ports: [{ name: "https", port: 443, protocol: "TCP", targetPort: 6443 }],
    });
    expect(endpoints.body["subsets"]).toMatchObject([
      { addresses: [{ ip: "10.1.2.3" }], ports: [{ port: 6443 }] },
    ]);
    expect(slice.body).toMatchObject({ addressType: "IPv4", endpoints: [{ addresses: ["10.1.2.3"] }] });
    expect(cidr.body).toMatchObject({
      spec: { cidrs: ["10.96.0.0/12"] },
      status: { conditions: [{ type: "Ready", status: "True" }] },
    });
    expect(apiService.body).toMatchObject({
      metadata: { labels: { "kube-aggregator.kubernetes.io/automanaged": "onstart" } },
      spec: { group: "apps", version: "v1", groupPriorityMinimum: 17_800, versionPriority: 15 },
      status: { conditions: [{ type: "Available", status: "True", reason: "Local" }] },
    });
    expect(priority.body).toMatchObject({ value: 2_000_001_000 });
  });

  test("a second start writes nothing", async () => {
    const server = await ServerFixture.start();
    const { store, loop } = server.verbParts;
    const { revision } = store.view;

    await ServerFixture.start({ store, loop });

    expect(store.view.revision).toBe(revision);
  });

  test("deleted and changed objects are restored", async () => {
    const server = await ServerFixture.start();
    const ending = new AbortController();
    const running = server.upkeep.run(ending.signal);

    await server.send("DELETE", "/api/v1/namespaces/default/services/kubernetes");
    await server.patch("/api/v1/namespaces/default/endpoints/kubernetes", { subsets: [] });
    await server.send("DELETE", "/apis/apiregistration.k8s.io/v1/apiservices/v1.apps");

    await expect
      .poll(() => server.send("GET", "/api/v1/namespaces/default/services/kubernetes"))
      .toMatchObject({ code: 200, body: { spec: { clusterIP: "10.96.0.1" } } });
    await expect
      .poll(() => server.send("GET", "/api/v1/namespaces/default/endpoints/kubernetes"))
      .toMatchObject({ body: { subsets: [{ addresses: [{ ip: "10.1.2.3" }] }] } });
    await expect
      .poll(() => server.send("GET", "/apis/apiregistration.k8s.io/v1/apiservices/v1.apps"))
      .toMatchObject({ code: 200 });
    ending.abort();
    await running;
  });

  test("an APIService of a version that is not served is deleted", async () => {
    const server = await ServerFixture.start();
    const name = "v1alpha1.gone.example.com";
    await server.send("POST", "/apis/apiregistration.k8s.io/v1/apiservices", {
      metadata: { name, labels: { "kube-aggregator.kubernetes.io/automanaged": "onstart" } },
      spec: {
        group: "gone.example.com",
        version: "v1alpha1",
        groupPriorityMinimum: 1000,
        versionPriority: 1,
      },
    });

    await server.upkeep.settle();

    expect(await server.send("GET", `/apis/apiregistration.k8s.io/v1/apiservices/${name}`)).toMatchObject({
      code: 404,
    });
  });
});

describe("advertisedAddress", () => {
  test.each([
    { is: "a listen address that others can use", host: "10.9.9.9", machine: ["10.1.2.3"], told: "10.9.9.9" },
    {
      is: "an address of the machine instead of loopback",
      host: "127.0.0.1",
      machine: ["127.0.0.1", "169.254.3.4", "10.1.2.3"],
      told: "10.1.2.3",
    },
    {
      is: "an address of the machine instead of everywhere",
      host: "0.0.0.0",
      machine: ["10.1.2.3"],
      told: "10.1.2.3",
    },
    {
      is: "a documented one that leads nowhere when there is no other",
      host: "localhost",
      machine: ["127.0.0.1", "::1"],
      told: "192.0.2.1",
    },
  ])("returns $is", ({ host, machine, told }) => {
    expect(advertisedAddress({ host, machine, family: "IPv4" })).toBe(told);
  });
});
