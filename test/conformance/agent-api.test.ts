/** The API of an agent's nodes in a process of its own, over TLS: the server reaches it, other callers need rights. */
import { request } from "node:https";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Node, Pod, ServiceAccount } from "../../src/api/generated/types/core-v1.ts";
import { silentLog } from "../../src/base/log/log.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { connect, type Connection } from "../../src/client/connection.ts";
import { loadKubeconfig } from "../../src/client/kubeconfig-files.ts";
import { runComponent } from "../../src/cluster/component.ts";
import { Folder, RunningCluster } from "./running-cluster.ts";

const POLL = { timeout: 20_000, interval: 50 };
const ELECTION = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 200 };
const PLACE = { namespace: "default", name: "web" };

describe("an agent in a process of its own", () => {
  const folder = new Folder();
  const loop = createRealLoop({ name: "agent" });
  const ending = new AbortController();
  let cluster: RunningCluster;
  let connection: Connection;
  let running: Promise<void>;

  beforeAll(async () => {
    cluster = await RunningCluster.start(folder);
    const kubeconfigFile = cluster.kubeconfig;
    const kubeconfig = await loadKubeconfig({ file: kubeconfigFile, env: {}, loop });
    connection = await connect({ loop, kubeconfig });
    running = runComponent(
      {
        ...{ part: "agent", nodes: 2, nodePrefix: "agent", servesApi: true },
        ...{ kubeconfigFile, env: {}, election: ELECTION },
      },
      { loop, log: silentLog, signal: ending.signal, report: () => undefined },
    );
    await connection.client(ServiceAccount).create({ metadata: { namespace: "default", name: "default" } });
    await connection.client(Pod).create({
      metadata: PLACE,
      spec: {
        nodeName: "agent-2",
        automountServiceAccountToken: false,
        containers: [{ name: "main", image: "web:1" }],
      },
    });
  });

  afterAll(async () => {
    ending.abort();
    await running;
    await connection.close();
    await cluster.stop();
    folder.remove();
  });

  async function endpoint(name: string): Promise<{ readonly host: string; readonly port: number }> {
    const { status } = await connection.client(Node).get({ name });
    const host = status.addresses?.find(({ type }) => type === "InternalIP")?.address ?? "";
    return { host, port: status.daemonEndpoints?.kubeletEndpoint?.Port ?? 0 };
  }

  test("states an address and a port of its own for each node", async () => {
    await expect
      .poll(() => endpoint("agent-2").catch(() => undefined), POLL)
      .toMatchObject({
        host: "127.0.0.1",
      });
    const [first, second] = [await endpoint("agent-1"), await endpoint("agent-2")];

    expect([first.port > 0, second.port > 0, first.port === second.port]).toEqual([true, true, false]);
  });

  test("is reached by the server with its client certificate", async () => {
    const log = () => cluster.ask("GET", "/api/v1/namespaces/default/pods/web/log");

    await expect
      .poll(async () => (await log()).text, POLL)
      .toBe("simulated: container main started, nothing is executed\n");
  });

  test("is closed to callers without credentials", async () => {
    const { host, port } = await endpoint("agent-1");
    const code = await new Promise((resolve, reject) => {
      const url = `https://${host}:${String(port)}/pods`;
      request(url, { rejectUnauthorized: false, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on("error", reject)
        .end();
    });

    expect(code).toBe(401);
  });
});
