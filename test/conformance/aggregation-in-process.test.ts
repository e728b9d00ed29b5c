/** API aggregation and the service proxy for programs that hold a whole cluster in their process. */
import type { RequestListener } from "node:http";
import { describe, expect, test } from "vitest";
import type { ResourceType, ApiObject } from "../../src/api/api-object.ts";
import { APIService } from "../../src/api/generated/types/apiregistration-v1.ts";
import { Pod, Service } from "../../src/api/generated/types/core-v1.ts";
import { EndpointSlice } from "../../src/api/generated/types/discovery-v1.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { makeAuthority, serve } from "../../src/server/egress/fixture.ts";
import { OWN_ADDRESS, serveBeside } from "./served-beside.ts";

const VERSION = "wardle.example.com/v1alpha1";
const API = `/apis/${VERSION}`;

const Flunder: ResourceType<ApiObject> = {
  apiVersion: VERSION,
  kind: "Flunder",
  plural: "flunders",
  namespaced: true,
};

function resourceList(groupVersion: string): string {
  const verbs = ["get", "list", "watch", "create"];
  const resources = [{ name: "flunders", singularName: "flunder", namespaced: true, kind: "Flunder", verbs }];
  return JSON.stringify({ kind: "APIResourceList", apiVersion: "v1", groupVersion, resources });
}

/** Registers an extension server of this process for a group version. */
async function register(cluster: Cluster, name: string, listener: RequestListener): Promise<void> {
  const authority = await makeAuthority("extension");
  const { port } = await serve(await authority.leaf(["api.default.svc"]), listener);
  const version = name.slice(0, name.indexOf("."));
  const group = name.slice(version.length + 1);
  await cluster.client.apply({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "api", namespace: "default" },
    spec: { type: "ExternalName", externalName: "localhost" },
  } as Service);
  await cluster.client.apply(
    {
      apiVersion: "apiregistration.k8s.io/v1",
      kind: "APIService",
      metadata: { name },
      spec: {
        group,
        version,
        groupPriorityMinimum: 2000,
        versionPriority: 100,
        service: { name: "api", namespace: "default", port },
        caBundle: Buffer.from(authority.cert).toString("base64"),
      },
    } as APIService,
    { force: true },
  );
  await cluster.until(() => availabilityOf(cluster, name) === "True Passed");
}

function availabilityOf(cluster: Cluster, name: string): string | undefined {
  const service = cluster.objects(APIService).find(({ metadata }) => metadata.name === name);
  const condition = service?.status.conditions?.find(({ type }) => type === "Available");
  return condition === undefined ? undefined : `${condition.status} ${condition.reason ?? ""}`;
}

/** APIService of an extension server that does not run. */
const UNREACHED = {
  metadata: { name: "v1alpha1.wardle.example.com" },
  spec: {
    group: "wardle.example.com",
    version: "v1alpha1",
    groupPriorityMinimum: 1000,
    versionPriority: 15,
    insecureSkipTLSVerify: true,
    service: { name: "api", namespace: "default", port: 443 },
  },
};

describe("an API of another server, within the process", () => {
  test("is read, written and watched with the same client", async () => {
    await using cluster = await startCluster({ loops: "none" });
    const bodies: string[] = [];
    await register(cluster, "v1alpha1.wardle.example.com", (req, res) => {
      const { url = "", method } = req;
      res.setHeader("content-type", "application/json");
      if (url === API) res.end(resourceList(VERSION));
      else if (method === "POST") {
        req.on("data", (bytes: Buffer) => bodies.push(bytes.toString()));
        req.on("end", () => res.writeHead(201).end(bodies.at(-1)));
      } else if (url.includes("watch=")) {
        const object = { apiVersion: VERSION, kind: "Flunder", metadata: { name: "a" } };
        res.write(`${JSON.stringify({ type: "ADDED", object })}\n{"type":"BOOK`);
        res.write(`MARK","object":${JSON.stringify(object)}}\n`);
      } else if (url.includes("/flunders")) {
        res.end(JSON.stringify({ apiVersion: VERSION, kind: "FlunderList", metadata: {}, items: [] }));
      } else res.writeHead(404).end("{}");
    });
    const flunders = cluster.client(Flunder);

    const made = await flunders.create({ metadata: { name: "a" } });
    const { items } = await flunders.list();
    const seen: string[] = [];
    for await (const batch of await flunders.watch()) {
      seen.push(...batch.map(({ type }) => type));
      if (seen.length === 2) break;
    }

    expect(made.metadata.name).toBe("a");
    expect(JSON.parse(bodies[0] ?? "")).toMatchObject({ kind: "Flunder", metadata: { name: "a" } });
    expect(items).toEqual([]);
    expect(seen).toEqual(["ADDED", "BOOKMARK"]);
  });

  test("is told of in the document of the older version of OpenAPI", async () => {
    await using cluster = await startCluster({ loops: "none" });
    const schema = { $ref: "#/definitions/com.example.Flunder" };
    const spec = {
      swagger: "2.0",
      paths: { [`${API}/flunders`]: { get: { responses: { "200": { schema } } } }, "/apis/": {} },
      definitions: { "com.example.Flunder": { type: "object" }, unused: {} },
    };
    const tags: (string | undefined)[] = [];
    await register(cluster, "v1alpha1.wardle.example.com", (req, res) => {
      res.setHeader("content-type", "application/json");
      if (req.url === "/openapi/v2") {
        tags.push(req.headers["if-none-match"]);
        res.setHeader("etag", '"1"').end(JSON.stringify(spec));
      } else if (req.url === API) res.end(resourceList(VERSION));
      else res.writeHead(404).end("{}");
    });

    const document = (await cluster.client.request({ path: "/openapi/v2" })) as typeof spec;

    expect(document.paths[`${API}/flunders`]).toEqual(spec.paths[`${API}/flunders`]);
    expect(document.definitions["com.example.Flunder"]).toEqual({ type: "object" });
    expect(document.paths).toHaveProperty(["/apis/", "get"]);
    expect(document.definitions).not.toHaveProperty("unused");
    expect(tags).toEqual([undefined]);
  });

  test("takes over what this server would serve itself, for as long as it is registered", async () => {
    await using cluster = await startCluster({ loops: "none", nodes: 1 });
    const path = "/apis/metrics.k8s.io/v1beta1/nodes";
    const name = "v1beta1.metrics.k8s.io";
    const before = await cluster.client.request({ path });

    await register(cluster, name, (req, res) => {
      res.setHeader("content-type", "application/json");
      res.end(req.url === path ? '{"kind":"Theirs"}' : resourceList("metrics.k8s.io/v1beta1"));
    });
    const theirs = await cluster.client.request({ path });
    await cluster.client(APIService).delete({ name });
    await cluster.until(() => availabilityOf(cluster, name) === "True Local");

    expect(before).toMatchObject({ kind: "NodeMetricsList" });
    expect(theirs).toEqual({ kind: "Theirs" });
    expect(await cluster.client.request({ path })).toMatchObject({ kind: "NodeMetricsList" });
  });

  test("says what is missing before it is asked at all", async () => {
    await using cluster = await startCluster({ loops: "none" });
    const { name } = UNREACHED.metadata;
    await cluster.client(APIService).create(UNREACHED);
    const becomes = (text: string): Promise<void> =>
      cluster.until(() => availabilityOf(cluster, name) === text);

    await becomes("False ServiceNotFound");
    await cluster.client(Service).create({ metadata: { name: "api" }, spec: { ports: [{ port: 80 }] } });
    await becomes("False ServicePortError");
    await cluster.client(Service).delete({ name: "api" });
    await cluster.client(Service).create({ metadata: { name: "api" }, spec: { ports: [{ port: 443 }] } });
    await becomes("False EndpointsNotFound");
    await cluster.client(EndpointSlice).create({
      metadata: { name: "api", labels: { "kubernetes.io/service-name": "api" } },
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.1.2.3"], conditions: { ready: false } }],
      ports: [{ port: 6443 }],
    });
    await becomes("False MissingEndpoints");

    const services = cluster.objects(APIService).filter(({ metadata }) => metadata.name === name);
    expect(services[0]?.status.conditions?.[0]?.message).toBe(
      'endpoints for service/api in "default" have no addresses with port name ""',
    );
    await expect(cluster.client(Flunder).list()).rejects.toThrow(
      "the server is currently unable to handle the request",
    );
  });
});

describe("an API of another server, in a virtual world", () => {
  test("is looked at without leaving that world", async () => {
    await using cluster = await startCluster({ clock: "virtual", loops: "none" });
    const { name } = UNREACHED.metadata;
    await cluster.client(APIService).create(UNREACHED);
    await cluster.settle();
    expect(availabilityOf(cluster, name)).toBe("False ServiceNotFound");

    await cluster.client(Service).create({
      metadata: { name: "api" },
      spec: { type: "ExternalName", externalName: "localhost" },
    });
    await cluster.clock.advance("1m");

    expect(availabilityOf(cluster, name)).toBe("False FailedDiscoveryCheck");
  });
});

async function putPod(cluster: Cluster, name: string, podIP: string): Promise<void> {
  const containers = [{ name: "main", image: "img", ports: [{ containerPort: 8080 }] }];
  await cluster.client(Pod).create({ metadata: { name }, spec: { containers } });
  const pod = await cluster.client(Pod).get({ name });
  const status = { ...pod.status, phase: "Running", podIP, podIPs: [{ ip: podIP }] };
  await cluster
    .client(Pod)
    .subresource("status")
    .update(pod, { ...pod, status });
}

describe("what pods serve", () => {
  const PODS = "/api/v1/namespaces/default/pods";
  const SERVICES = "/api/v1/namespaces/default/services";

  test.skipIf(OWN_ADDRESS === undefined)("is reached through the server, by pod and by Service", async () => {
    await using cluster = await startCluster({ loops: "none" });
    const port = await serveBeside(({ url, headers }, res) => {
      res.setHeader("content-type", "application/json");
      res.end(JSON.stringify({ url, uri: headers["x-forwarded-uri"], secret: headers["authorization"] }));
    });
    await putPod(cluster, "web", OWN_ADDRESS ?? "");
    await cluster.client(Service).create({
      metadata: { name: "web" },
      spec: { ports: [{ name: "http", port: 80, targetPort: port }] },
    });
    await cluster.client(EndpointSlice).create({
      metadata: { name: "web", labels: { "kubernetes.io/service-name": "web" } },
      addressType: "IPv4",
      endpoints: [
        { addresses: ["10.1.2.3"], conditions: { ready: true } },
        { addresses: [OWN_ADDRESS ?? ""], conditions: {}, targetRef: { kind: "Pod", name: "web" } },
      ],
      ports: [{ name: "http", port }],
    });
    const ask = (path: string): Promise<unknown> => cluster.client.request({ path });

    const byPod = `${PODS}/web:${String(port)}/proxy/a%2Fb/`;
    expect(await ask(byPod)).toEqual({ url: "/a%2Fb/", uri: byPod });
    for (const name of ["web:http", "web:80", "http:web:http", ":web:80"]) {
      const path = `${SERVICES}/${name}/proxy/`;
      expect(await ask(path)).toEqual({ url: "/", uri: path });
    }
    await expect(ask(`${SERVICES}/web:81/proxy/`)).rejects.toThrow(
      'no service port 81 found for service "web"',
    );
    await expect(ask(`${SERVICES}/ftp:web:80/proxy/`)).rejects.toThrow(
      'invalid service request "ftp:web:80"',
    );
    await expect(ask(`${SERVICES}/none/proxy/`)).rejects.toThrow('services "none" not found');
  });

  test("is not this machine, whatever the status of a pod says, nor what no pod has", async () => {
    await using cluster = await startCluster({ loops: "none" });
    const asked: unknown[] = [];
    const port = await serveBeside(({ url }, res) => {
      asked.push(url);
      res.end();
    });
    await cluster.client(Service).create({ metadata: { name: "web" }, spec: { ports: [{ port }] } });
    await cluster.client(EndpointSlice).create({
      metadata: { name: "web", labels: { "kubernetes.io/service-name": "web" } },
      addressType: "IPv4",
      endpoints: [{ addresses: [OWN_ADDRESS ?? "10.1.2.3"], conditions: { ready: true } }],
      ports: [{ port }],
    });

    for (const [name, ip] of Object.entries({ loopback: "127.0.0.1", metadata: "169.254.169.254" })) {
      await putPod(cluster, name, ip);
      const path = `${PODS}/${name}:${String(port)}/proxy/`;
      await expect(cluster.client.request({ path })).rejects.toThrow("address not allowed");
    }
    await expect(cluster.client.request({ path: `${SERVICES}/web/proxy/` })).rejects.toThrow(
      'no endpoints available for service "web"',
    );
    expect(asked).toEqual([]);
  });
});
