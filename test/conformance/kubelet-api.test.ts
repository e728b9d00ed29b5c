/** The kubelet's HTTP API over TLS: callers and rights by reviews of a real API server, pages, logs. */
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { reviewingGate } from "../../src/agent/http/caller-gate.ts";
import { CallerReviews } from "../../src/agent/http/caller-reviews.ts";
import { listenForNode, type KubeletListener } from "../../src/agent/http/kubelet-listener.ts";
import { KubeletServer } from "../../src/agent/http/kubelet-server.ts";
import type { ServedNode, ServedRuntime } from "../../src/agent/http/served-node.ts";
import type { LogQuery } from "../../src/agent/runtime-handler.ts";
import type { Pod } from "../../src/api/generated/types/core-v1.ts";
import { ServiceAccount } from "../../src/api/generated/types/core-v1.ts";
import { ClusterRole, ClusterRoleBinding } from "../../src/api/generated/types/rbac-v1.ts";
import { incomplete } from "../../src/api/object-fixture.ts";
import { silentLog } from "../../src/base/log/log.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { createMetrics } from "../../src/base/metrics/prom-metrics.ts";
import { connect, type Connection } from "../../src/client/connection.ts";
import { loadKubeconfig } from "../../src/client/kubeconfig-files.ts";
import { Folder, RunningCluster } from "./running-cluster.ts";

interface Credentials {
  readonly cert?: Buffer;
  readonly key?: Buffer;
  readonly token?: string;
}

/** Pod `default/web` with the container `app`. */
const NODE: ServedNode = {
  name: "node-1",
  isUp: () => true,
  configuration: () => ({ maxPods: 110 }),
  pods: () => [
    incomplete<Pod>({
      metadata: { name: "web", namespace: "default", uid: "1" },
      spec: { containers: [{ name: "app" }, { name: "waiting" }] },
      status: {
        containerStatuses: [
          { name: "app", state: { running: {} }, lastState: {} },
          { name: "waiting", state: { waiting: { reason: "ImagePullBackOff" } }, lastState: {} },
        ],
      },
    }),
  ],
  findRuntime: () =>
    incomplete<ServedRuntime>({
      usage: () =>
        Promise.resolve({
          at: 0,
          containers: [{ name: "app", startedAt: 0, cpuMillis: 1, cpuSeconds: 7, memoryBytes: 1 }],
        }),
    }),
  probeTotals: () => [{ container: "app", type: "readiness", success: 5, failure: 0 }],
  readLog: (_place: unknown, { tailLines = 2 }: LogQuery) =>
    Promise.resolve(Readable.from(["one\n", "two\n"].slice(2 - tailLines))),
};

describe("the kubelet's API over TLS", () => {
  const folder = new Folder();
  const loop = createRealLoop({ name: "kubelet" });
  let cluster: RunningCluster;
  let connection: Connection;
  let server: KubeletServer;
  let listener: KubeletListener;

  beforeAll(async () => {
    cluster = await RunningCluster.start(folder);
    const kubeconfig = await loadKubeconfig({ file: cluster.kubeconfig, env: {}, loop });
    connection = await connect({ loop, kubeconfig });
    server = new KubeletServer({ loop, log: silentLog, metrics: createMetrics() });
    const gate = reviewingGate(new CallerReviews({ client: connection.client, loop }));
    listener = await listenForNode({
      ...{ loop, log: silentLog, server, place: { node: NODE, gate }, host: "127.0.0.1", port: 0 },
      tls: {
        cert: pem("apiserver.crt").toString(),
        key: pem("apiserver.key").toString(),
        clientCa: pem("ca.crt").toString(),
      },
    });
  });

  afterAll(async () => {
    listener.close();
    server.close();
    await connection.close();
    await cluster.stop();
    folder.remove();
  });

  function pem(name: string): Buffer {
    return readFileSync(join(cluster.dataDir, "pki", name));
  }

  function pair(name: string): Credentials {
    return { cert: pem(`${name}.crt`), key: pem(`${name}.key`) };
  }

  function ask(path: string, { token, ...pems }: Credentials, method = "GET"): Promise<[number, string]> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const options = { method, ca: pem("ca.crt"), ...pems, agent: false as const, headers };
    return new Promise((resolve, reject) => {
      const url = `https://127.0.0.1:${String(listener.port)}${path}`;
      request(url, options, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
        response.on("end", () => resolve([response.statusCode ?? 0, text]));
      })
        .on("error", reject)
        .end();
    });
  }

  /** Token of a new service account with this right on nodes. */
  async function accountWith(name: string, verb: string, resource: string): Promise<string> {
    const { client } = connection;
    const place = { namespace: "default", name };
    await client(ServiceAccount).create({ metadata: place });
    await client(ClusterRole).create({
      metadata: { name },
      rules: [{ apiGroups: [""], resources: [resource], verbs: [verb] }],
    });
    await client(ClusterRoleBinding).create({
      metadata: { name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
      subjects: [{ kind: "ServiceAccount", ...place }],
    });
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { audiences: [] } };
    const answer = await client(ServiceAccount).subresource("token").create(place, body);
    return (answer as { readonly status: { readonly token: string } }).status.token;
  }

  test("knows callers by a certificate of the cluster's CA", async () => {
    expect(await ask("/healthz", pair("apiserver-kubelet-client"))).toEqual([200, "ok"]);
    expect(await ask("/healthz", pair("front-proxy-client"))).toEqual([401, "Unauthorized"]);
  });

  test("refuses callers without credentials or with a wrong token", async () => {
    expect(await ask("/healthz", {})).toEqual([401, "Unauthorized"]);
    expect(await ask("/pods", { token: "wrong" })).toEqual([401, "Unauthorized"]);
  });

  test("gives a token the rights of its account, and no others", async () => {
    const token = await accountWith("scraper", "get", "nodes/metrics");
    const [code, page] = await ask("/metrics/resource", { token });

    expect([code, page]).toEqual([200, expect.stringContaining("node_cpu_usage_seconds_total 7 ")]);
    expect(await ask("/containerLogs/default/web/app", { token })).toEqual([
      403,
      "Forbidden (user=system:serviceaccount:default:scraper, verb=get, resource=nodes, subresource(s)=[proxy])",
    ]);
  });

  test("opens no stream with the right to read", async () => {
    const token = await accountWith("reader", "get", "nodes/proxy");

    expect((await ask("/pods", { token }))[0]).toBe(200);
    expect((await ask("/exec/default/web/app?command=id", { token }))[0]).toBe(403);
  });

  test.each([
    ["/pods", 200, '"kind":"PodList"'],
    ["/runningpods/", 200, '"name":"web"'],
    ["/stats/summary", 200, '"nodeName":"node-1"'],
    ["/configz", 200, '{"kubeletconfig":{"maxPods":110}}'],
    ["/metrics", 200, ""],
    ["/metrics/cadvisor", 200, "container_start_time_seconds"],
    ["/metrics/probes", 200, 'pod="web",pod_uid="1",probe_type="Readiness",result="successful"} 5'],
    ["/containerLogs/default/web/app", 200, "one\ntwo\n"],
    ["/containerLogs/default/web/app?tailLines=1", 200, "two\n"],
    ["/containerLogs/default/web/app?tailLines=x", 400, '{"message":"Unable to decode query."}'],
    [
      "/containerLogs/default/web/app?previous=true",
      400,
      'previous terminated container "app" in pod "web" not',
    ],
    ["/containerLogs/default/web/waiting", 400, "is waiting to start: trying and failing to pull image"],
    ["/containerLogs/default/web/other", 404, 'container "other" not found in pod "web"'],
    ["/containerLogs/default/none/app", 404, 'pod "none" does not exist'],
    ["/logs/", 404, "404 page not found"],
  ])("answers %s with %i", async (path, code, text) => {
    expect(await ask(path, pair("admin"))).toEqual([code, expect.stringContaining(text)]);
  });

  test("changes nothing", async () => {
    expect((await ask("/pods", pair("admin"), "DELETE"))[0]).toBe(405);
  });
});
