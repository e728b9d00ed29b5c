import { describe, expect, test } from "vitest";
import { createRealLoop } from "../../../base/loop/real/real-loop.ts";
import { openMemoryStore } from "../../../store/memory-store.ts";
import type { Seen } from "../../access/authn/fixture.ts";
import { listAt, ServerFixture, textAt } from "../../upkeep/fixture.ts";

const SERVICES = "/api/v1/namespaces/default/services";
const ADDRESSES = "/apis/networking.k8s.io/v1/ipaddresses";

function service(name: string, spec: Readonly<Record<string, unknown>> = {}): object {
  return { apiVersion: "v1", kind: "Service", metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } };
}

function nodePort(body: Seen): number {
  return Number(listAt<{ nodePort: number }>(body, "spec", "ports")[0]?.nodePort);
}

describe("the addresses of a Service", () => {
  test("a Service gets an address and an IPAddress object that names the Service", async () => {
    const server = await ServerFixture.start();

    const { code, body } = await server.send("POST", SERVICES, service("web"));

    expect(code).toBe(201);
    const ip = textAt(body, "spec", "clusterIP");
    expect(body["spec"]).toMatchObject({
      clusterIPs: [ip],
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
    });
    expect((await server.send("GET", `${ADDRESSES}/${ip}`)).body).toMatchObject({
      metadata: {
        labels: {
          "ipaddress.kubernetes.io/ip-family": "IPv4",
          "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
        },
      },
      spec: { parentRef: { resource: "services", namespace: "default", name: "web" } },
    });
  });

  test("the address and the Service are written and deleted in the same revision", async () => {
    const server = await ServerFixture.start();
    const { body } = await server.send("POST", SERVICES, service("web"));
    const ip = textAt(body, "spec", "clusterIP");
    const address = await server.send("GET", `${ADDRESSES}/${ip}`);

    await server.send("DELETE", `${SERVICES}/web`);

    expect(address.body["metadata"]?.["resourceVersion"]).toBe(body["metadata"]?.["resourceVersion"]);
    expect((await server.send("GET", `${ADDRESSES}/${ip}`)).code).toBe(404);
  });

  test("a requested address is allocated, and refused when another Service has it", async () => {
    const server = await ServerFixture.start();

    const first = await server.send("POST", SERVICES, service("one", { clusterIP: "10.96.7.7" }));
    const second = await server.send("POST", SERVICES, service("two", { clusterIP: "10.96.7.7" }));

    expect(first.body["spec"]).toMatchObject({ clusterIP: "10.96.7.7" });
    expect(second.code).toBe(422);
    expect(second.body["message"]).toBe(
      'Service "two" is invalid: spec.clusterIPs: Invalid value: ["10.96.7.7"]: failed to allocate IP 10.96.7.7: provided IP is already allocated',
    );
  });

  test("an address outside the range is refused", async () => {
    const server = await ServerFixture.start();

    const { code, body } = await server.send("POST", SERVICES, service("web", { clusterIP: "192.168.0.1" }));

    expect(code).toBe(422);
    expect(body["message"]).toContain(
      "failed to allocate IP 192.168.0.1: the provided IP (192.168.0.1) is not in the valid range. The range of valid IPs is 10.96.0.0/12",
    );
  });

  test("a dry run returns an address and allocates none", async () => {
    const server = await ServerFixture.start();
    const { revision } = server.verbParts.store.view;

    const { code, body } = await server.send(
      "POST",
      `${SERVICES}?dryRun=All`,
      service("web", { type: "NodePort" }),
    );

    expect(code).toBe(201);
    expect(textAt(body, "spec", "clusterIP")).toMatch(/^10\./);
    expect(nodePort(body)).toBeGreaterThan(0);
    expect(server.verbParts.store.view.revision).toBe(revision);
  });

  test("a headless Service gets no address", async () => {
    const server = await ServerFixture.start();

    const { body } = await server.send(
      "POST",
      SERVICES,
      service("web", { clusterIP: "None", selector: { app: "web" } }),
    );

    expect(body["spec"]).toMatchObject({ clusterIP: "None", clusterIPs: ["None"], ipFamilies: ["IPv4"] });
    expect((await server.send("GET", ADDRESSES)).body["items"]).toHaveLength(1);
  });

  test("a Service that is replaced by its manifest keeps its address and ports", async () => {
    const server = await ServerFixture.start();
    const made = await server.send("POST", SERVICES, service("web", { type: "NodePort" }));

    const { code, body } = await server.send(
      "PUT",
      `${SERVICES}/web`,
      service("web", { type: "NodePort", selector: { app: "web" } }),
    );

    expect(code).toBe(200);
    expect(body["spec"]).toEqual({ ...(made.body["spec"] as object), selector: { app: "web" } });
  });

  test("a Service that becomes an ExternalName releases its address and ports", async () => {
    const server = await ServerFixture.start();
    const made = await server.send("POST", SERVICES, service("web", { type: "NodePort" }));
    const ip = textAt(made.body, "spec", "clusterIP");
    const change = { spec: { type: "ExternalName", externalName: "example.com" } };

    const { code, body } = await server.patch(`${SERVICES}/web`, change);

    expect(code).toBe(200);
    expect(body["spec"]).not.toHaveProperty("clusterIP");
    expect((await server.send("GET", `${ADDRESSES}/${ip}`)).code).toBe(404);
    const again = service("next", { type: "NodePort", ports: [{ port: 80, nodePort: nodePort(made.body) }] });
    expect((await server.send("POST", SERVICES, again)).code).toBe(201);
  });

  test("a full range is reported as full", async () => {
    const server = await ServerFixture.start({ serviceCidrs: ["10.0.0.0/30"] });
    await server.send("POST", SERVICES, service("one"));

    const { code, body } = await server.send("POST", SERVICES, service("two"));

    expect(code).toBe(500);
    expect(body["message"]).toContain("failed to allocate a serviceIP: range is full");
  });

  test("a second range is used when the first is full", async () => {
    const server = await ServerFixture.start({ serviceCidrs: ["10.0.0.0/30"] });
    await server.send("POST", SERVICES, service("one"));
    await server.send("POST", "/apis/networking.k8s.io/v1/servicecidrs", {
      metadata: { name: "more" },
      spec: { cidrs: ["10.7.0.0/24"] },
    });

    const { body } = await server.send("POST", SERVICES, service("two"));

    expect(textAt(body, "spec", "clusterIP")).toMatch(/^10\.7\.0\./);
  });

  test("no two Services of several servers share an address or a port", async () => {
    const loop = createRealLoop({ name: "test" });
    const store = openMemoryStore({ loop: loop.child("store") });
    const options = {
      store,
      loop,
      serviceCidrs: ["10.0.0.0/24"],
      nodePorts: { first: 30_000, last: 30_099 },
    };
    const one = await ServerFixture.start(options);
    const other = await ServerFixture.start(options);

    const replies = await Promise.all(
      Array.from({ length: 80 }, (_, i) =>
        (i % 2 === 0 ? one : other).send("POST", SERVICES, service(`s${i}`, { type: "NodePort" })),
      ),
    );

    const bodies = replies.map(({ body }) => body);
    expect(new Set(replies.map(({ code }) => code))).toEqual(new Set([201]));
    expect(new Set(bodies.map((body) => body["spec"]?.["clusterIP"])).size).toBe(80);
    expect(new Set(bodies.map(nodePort)).size).toBe(80);
  });
});

describe("families of addresses", () => {
  const dual = { serviceCidrs: ["10.96.0.0/16", "fd00:1::/112"] };

  test("a Service that prefers both families gets both in a dual-stack cluster", async () => {
    const server = await ServerFixture.start(dual);

    const { body } = await server.send(
      "POST",
      SERVICES,
      service("web", { ipFamilyPolicy: "PreferDualStack" }),
    );

    expect(body["spec"]?.["ipFamilies"]).toEqual(["IPv4", "IPv6"]);
    expect(body["spec"]?.["clusterIPs"]).toEqual([
      expect.stringMatching(/^10\.96\./),
      expect.stringMatching(/^fd00:1::/),
    ]);
  });

  test("a Service that requires both families is refused in a single-stack cluster", async () => {
    const server = await ServerFixture.start();

    const { code, body } = await server.send(
      "POST",
      SERVICES,
      service("web", { ipFamilyPolicy: "RequireDualStack" }),
    );

    expect(code).toBe(422);
    expect(body["message"]).toContain("this cluster is not configured for dual-stack services");
  });

  test("the second address is allocated and released with the policy", async () => {
    const server = await ServerFixture.start(dual);
    await server.send("POST", SERVICES, service("web"));

    const grown = await server.patch(`${SERVICES}/web`, { spec: { ipFamilyPolicy: "RequireDualStack" } });
    const shrunk = await server.patch(`${SERVICES}/web`, { spec: { ipFamilyPolicy: "SingleStack" } });

    const [first, second] = listAt<string>(grown.body, "spec", "clusterIPs");
    expect(shrunk.body["spec"]).toMatchObject({ clusterIPs: [first], ipFamilies: ["IPv4"] });
    expect((await server.send("GET", `${ADDRESSES}/${second}`)).code).toBe(404);
    expect((await server.send("GET", `${ADDRESSES}/${first}`)).code).toBe(200);
  });
});

describe("the node ports of a Service", () => {
  test("a requested port is allocated, and refused when it is taken or out of range", async () => {
    const server = await ServerFixture.start();
    const asked = (name: string, port: number): object =>
      service(name, { type: "NodePort", ports: [{ port: 80, nodePort: port }] });

    const first = await server.send("POST", SERVICES, asked("one", 30_080));
    const second = await server.send("POST", SERVICES, asked("two", 30_080));
    const third = await server.send("POST", SERVICES, asked("three", 80));

    expect(nodePort(first.body)).toBe(30_080);
    expect(second.body["message"]).toBe(
      'Service "two" is invalid: spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated',
    );
    expect(third.body["message"]).toContain(
      "provided port is not in the valid range. The range of valid ports is 30000-32767",
    );
  });

  test("one port for two protocols shares a node port", async () => {
    const server = await ServerFixture.start();
    const ports = [
      { name: "tcp", port: 53, protocol: "TCP" },
      { name: "udp", port: 53, protocol: "UDP" },
    ];

    const { body } = await server.send("POST", SERVICES, service("dns", { type: "NodePort", ports }));

    const [tcp, udp] = listAt<{ nodePort: number }>(body, "spec", "ports");
    expect(tcp?.nodePort).toBe(udp?.nodePort);
  });

  test("a local load balancer gets the health check port that it requests", async () => {
    const server = await ServerFixture.start();
    const spec = { type: "LoadBalancer", externalTrafficPolicy: "Local", healthCheckNodePort: 30_090 };

    const { body } = await server.send("POST", SERVICES, service("web", spec));

    const port = Number(body["spec"]?.["healthCheckNodePort"]);
    const other = service("other", { type: "NodePort", ports: [{ port: 80, nodePort: port }] });
    expect((await server.send("POST", SERVICES, other)).code).toBe(422);
  });

  test("removed ports are released, remaining ports are kept", async () => {
    const server = await ServerFixture.start();
    const two = [
      { name: "a", port: 80 },
      { name: "b", port: 81 },
    ];
    const made = await server.send("POST", SERVICES, service("web", { type: "NodePort", ports: two }));
    const [a, b] = listAt<{ nodePort: number }>(made.body, "spec", "ports");

    const left = await server.patch(`${SERVICES}/web`, { spec: { ports: [{ name: "a", port: 80 }] } });

    expect(nodePort(left.body)).toBe(a?.nodePort);
    const next = service("next", { type: "NodePort", ports: [{ port: 80, nodePort: b?.nodePort }] });
    expect((await server.send("POST", SERVICES, next)).code).toBe(201);
  });

  test("a lost allocation is counted anew from the Services", async () => {
    const server = await ServerFixture.start();
    const made = await server.send("POST", SERVICES, service("web", { type: "NodePort" }));
    await server.verbParts.store.write({
      changes: [{ type: "delete", key: "/registry/ranges/servicenodeports" }],
    });

    const again = service("next", { type: "NodePort", ports: [{ port: 80, nodePort: nodePort(made.body) }] });

    expect((await server.send("POST", SERVICES, again)).body["message"]).toContain(
      "provided port is already allocated",
    );
  });

  test("a refused Service leaves no address and no port allocated", async () => {
    const server = await ServerFixture.start();
    const spec = { type: "NodePort", clusterIP: "10.96.0.1" };
    const { revision } = server.verbParts.store.view;

    expect((await server.send("POST", SERVICES, service("web", spec))).code).toBe(422);

    expect(server.verbParts.store.view.revision).toBe(revision);
  });
});
