/** Connections to pods that the server refuses itself, without a node. */
import { createServer } from "node:http";
import type { Duplex } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LocalNodeRegistry } from "../../src/streams/node-http.ts";
import type { NodeCaller } from "../../src/streams/node-http.ts";
import { TestApi } from "../api-harness.ts";

const PODS = "/api/v1/namespaces/default/pods";
const MAIN = { name: "main", image: "web:1" };

describe("a connection to a pod", () => {
  let api: TestApi;

  async function addPod(name: string, spec: object): Promise<void> {
    const body = { metadata: { name }, spec: { containers: [MAIN], ...spec } };
    expect((await api.send("POST", PODS, body)).code).toBe(201);
  }

  beforeAll(async () => {
    api = await TestApi.start();
    const simulated = { daemonEndpoints: { kubeletEndpoint: { Port: 0 } } };
    for (const name of ["n1", "loopback"]) await api.send("POST", "/api/v1/nodes", { metadata: { name } });
    const merge = { type: "application/merge-patch+json" };
    await api.send("PATCH", "/api/v1/nodes/n1/status", { status: simulated }, merge);
    const addresses = [{ type: "InternalIP", address: "127.0.0.1" }];
    const status = { addresses, daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } } };
    await api.send("PATCH", "/api/v1/nodes/loopback/status", { status }, merge);
    await addPod("a", { nodeName: "n1" });
    await addPod("lost", { nodeName: "gone" });
    await addPod("near", { nodeName: "loopback" });
    await addPod("free", {});
    await addPod("two", {
      nodeName: "n1",
      containers: [MAIN, { ...MAIN, name: "other" }],
      initContainers: [{ ...MAIN, name: "first" }],
    });
  });
  afterAll(() => api[Symbol.asyncDispose]());

  test.each([
    ["a", 503, 'node "n1" cannot be reached: it states no kubelet port'],
    ["lost", 404, 'nodes "gone" not found'],
    ["near", 503, 'node "loopback" cannot be reached: the server does not dial its address 127.0.0.1'],
    ["missing", 404, 'pods "missing" not found'],
  ])("to %s is answered with %i", async (name, code, message) => {
    expect(await api.send("GET", `${PODS}/${name}/log`)).toMatchObject({ code, body: { message } });
  });

  test.each(["n1/proxy/pods", "n1:10250/proxy/pods", "http:n1:80/proxy/"])(
    "to the proxy of node %s is unavailable",
    async (path) => {
      const message = 'node "n1" cannot be reached: it states no kubelet port';

      expect(await api.send("GET", `/api/v1/nodes/${path}`)).toMatchObject({ code: 503, body: { message } });
    },
  );

  test.each([
    ["a/exec?container=nope&command=ls", "container nope is not valid for pod a"],
    ["two/attach", "a container name must be specified for pod two, choose one of: [first main other]"],
    ["free/exec?command=ls", "pod free does not have a host assigned"],
    ["free/portforward?ports=80", "pod free does not have a host assigned"],
  ])("to %s is refused before the server looks for a node", async (path, message) => {
    expect(await api.send("POST", `${PODS}/${path}`)).toMatchObject({
      code: 400,
      body: { reason: "BadRequest", message },
    });
  });

  test("for the log of a pod without a node is empty", async () => {
    expect((await api.send("GET", `${PODS}/free/log`)).code).toBe(204);
    expect((await api.send("GET", `${PODS}/free/log?container=nope`)).code).toBe(400);
  });

  test.each([
    ["tailLines=many", 'strconv.ParseInt: parsing "many": invalid syntax'],
    ["sinceTime=x", 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'],
    ["limitBytes=", 'strconv.ParseInt: parsing "": invalid syntax'],
    [
      "sinceSeconds=9223372036854775808",
      'strconv.ParseInt: parsing "9223372036854775808": value out of range',
    ],
  ])("for a log with %s is refused before the server looks for the pod", async (query, message) => {
    expect(await api.send("GET", `${PODS}/missing/log?${query}`)).toMatchObject({
      code: 400,
      body: { reason: "BadRequest", message },
    });
  });

  test.each([
    ["tailLines=-1", "tailLines: Invalid value: -1: must be greater than or equal to 0"],
    ["limitBytes=0", "limitBytes: Invalid value: 0: must be greater than 0"],
    ["sinceSeconds=0", "sinceSeconds: Invalid value: 0: must be greater than 0"],
  ])("for a log with %s is invalid", async (query, message) => {
    expect(await api.send("GET", `${PODS}/a/log?${query}`)).toMatchObject({
      code: 422,
      body: { message: `PodLogOptions "a" is invalid: ${message}` },
    });
  });

  test.each([
    ["PUT", "exec"],
    ["DELETE", "log"],
    ["POST", "log"],
  ])("by %s to %s is not allowed", async (method, subresource) => {
    expect((await api.send(method, `${PODS}/a/${subresource}`)).code).toBe(405);
  });

  test.each(["log/more", "exec/more"])("to %s is not found", async (path) => {
    expect((await api.send("GET", `${PODS}/a/${path}`)).code).toBe(404);
  });
});

describe("a node in the server's process", () => {
  test("is reached without a port and an address, by the server's own user", async () => {
    const nodes = new LocalNodeRegistry();
    const callers: string[] = [];
    const server = createServer((request, response) => response.end(`${request.method} ${request.url}\n`));
    const acceptor = {
      accept: (socket: Duplex, caller: NodeCaller) => {
        callers.push(caller.name);
        server.emit("connection", socket);
      },
    };
    await using api = await TestApi.start(["default"], { localNodes: nodes });
    await api.send("POST", "/api/v1/nodes", { metadata: { name: "n1" } });
    const spec = { nodeName: "n1", containers: [MAIN] };
    await api.send("POST", PODS, { metadata: { name: "a" }, spec });
    const remove = nodes.add("n1", acceptor);

    const log = await api.send("GET", `${PODS}/a/log?tailLines=3&timestamps=true`);
    const proxied = await api.send("GET", "/api/v1/nodes/n1/proxy/healthz");
    remove();
    const removed = await api.send("GET", `${PODS}/a/log`);

    expect(log.bytes.toString()).toBe("GET /containerLogs/default/a/main?tailLines=3&timestamps=true\n");
    expect(proxied.bytes.toString()).toBe("GET /healthz\n");
    expect(callers).toEqual(["kube-apiserver-kubelet-client", "kube-apiserver-kubelet-client"]);
    expect(removed.code).toBe(503);
  });
});
