/** Logs and streams of simulated pods over the kubelet's HTTP API, as an API server in the same process sees them. */
import { request } from "node:http";
import type { Duplex, Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KubeletServer } from "../../src/agent/http/kubelet-server.ts";
import type { ServedNode } from "../../src/agent/http/served-node.ts";
import { Namespace, Pod } from "../../src/api/generated/types/core-v1.ts";
import { silentLog } from "../../src/base/log/log.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { createMetrics } from "../../src/base/metrics/prom-metrics.ts";
import { startCluster, type Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { nodeLoops } from "../../src/cluster/loops/loops.ts";
import { duplexPair } from "../../src/streams/duplex-pair.ts";
import { openPortForward } from "../../src/streams/port-forward/open-port-forward.ts";
import type { CommandResult } from "../../src/streams/remote-command/command-result.ts";
import {
  openSpdyCommand,
  openWebSocketCommand,
  remoteCommand,
} from "../../src/streams/remote-command/open-command.ts";

const SIMULATED = "simulated.setpoint.dev";
const V4 = ["v4.channel.k8s.io"];

describe("a simulated pod", () => {
  const loop = createRealLoop({ name: "test" });
  const nodes = new Map<string, ServedNode>();
  const server = new KubeletServer({ loop, log: silentLog, metrics: createMetrics() });
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await startCluster({ loops: "none" });
    const serve = (node: ServedNode) => {
      nodes.set(node.name, node);
      return { port: 0, addresses: undefined, close: () => nodes.delete(node.name) };
    };
    cluster.run(nodeLoops(1, { hasRootCa: false, serve }));
    await cluster.until(() => cluster.objects(Namespace).length > 0 && nodes.get("node-1")?.isUp() === true);
  });

  afterAll(async () => {
    server.close();
    await cluster.stop();
    expect(nodes.size).toBe(0);
  });

  function connect(): Duplex {
    const [client, other] = duplexPair();
    const node = nodes.get("node-1");
    if (node === undefined) throw new Error("the node is not served");
    server.accept(other, { node, gate: undefined });
    return client;
  }

  /** Resolves when the container's state is as the predicate says. */
  async function start(
    name: string,
    spec: { readonly command?: readonly string[]; readonly restartPolicy?: "Never" },
    annotations: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const named = Object.entries(annotations).map(([key, value]) => [`${SIMULATED}/${key}`, value] as const);
    const { command, restartPolicy = "Always" } = spec;
    await cluster.client(Pod).create({
      metadata: { name, namespace: "default", annotations: Object.fromEntries(named) },
      spec: {
        nodeName: "node-1",
        restartPolicy,
        containers: [{ name: "main", image: "web:1", ...(command && { command }) }],
      },
    });
    await cluster.until(() => {
      const status = cluster.objects(Pod).find(({ metadata }) => metadata.name === name)?.status;
      return restartPolicy === "Never" ? status?.phase === "Succeeded" : status?.phase === "Running";
    });
  }

  function get(path: string): Promise<Duplex & { readonly statusCode?: number }> {
    return new Promise((resolve, reject) => {
      const sent = request({ path, createConnection: connect }, (response) => resolve(response as never));
      sent.on("error", reject);
      sent.end();
    });
  }

  async function logs(name: string, query = ""): Promise<string> {
    return text(await get(`/containerLogs/default/${name}/main?${query}`));
  }

  async function exec(
    name: string,
    command: readonly string[],
    open = openSpdyCommand,
  ): Promise<{ readonly stdout: string; readonly stderr: string; readonly result: CommandResult }> {
    const query = new URLSearchParams([
      ["output", "1"],
      ["error", "1"],
    ]);
    for (const word of command) query.append("command", word);
    const streams = await open(connect(), {
      path: `/exec/default/${name}/main?${query.toString()}`,
      authority: "node",
      headers: {},
      options: { stdin: false, stdout: true, stderr: true, tty: false },
      protocols: V4,
      loop,
    });
    const { stdout, stderr, result } = remoteCommand(streams);
    const read = async (each: Readable | undefined): Promise<string> =>
      each === undefined ? "" : text(each);
    const [out, err] = await Promise.all([read(stdout), read(stderr)]);
    return { stdout: out, stderr: err, result: await result };
  }

  test("has a log that says that nothing is executed", async () => {
    await start("plain", {});

    expect(await logs("plain")).toBe("simulated: container main started, nothing is executed\n");
    expect(await logs("plain", "timestamps=true")).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z simulated: container/);
    expect(await logs("plain", "tailLines=0")).toBe("");
    expect((await get("/containerLogs/default/plain/main?previous=true")).statusCode).toBe(400);
  });

  test("shows what a simple command prints, also after its end", async () => {
    await start("echo", { command: ["sh", "-c", "echo 'hello world'; echo bye"], restartPolicy: "Never" });

    expect(await logs("echo")).toBe("hello world\nbye\n");
    expect(await logs("echo", "tailLines=1&follow=true")).toBe("bye\n");
    expect(await logs("echo", "limitBytes=5")).toBe("hello");
  });

  test("shows declared lines at their times to a follower, who sees the end", async () => {
    await start(
      "lines",
      {},
      { log: "one\n+100ms two\n+200ms three", "exit-after": "400ms", "exit-times": "1" },
    );

    expect(await logs("lines", "follow=true")).toBe("one\ntwo\nthree\n");
    await cluster.until(() => restarts("lines") === 1);
    expect(await logs("lines", "previous=true")).toBe("one\ntwo\nthree\n");
  });

  function restarts(name: string): number {
    const pod = cluster.objects(Pod).find(({ metadata }) => metadata.name === name);
    return pod?.status.containerStatuses?.[0]?.restartCount ?? 0;
  }

  test.each([
    ["SPDY", openSpdyCommand],
    ["WebSocket", openWebSocketCommand],
  ])("answers declared commands over %s", async (_carrier, open) => {
    const name = _carrier.toLowerCase();
    await start(name, {}, { exec: "hostname: web-0\nfails: { stderr: broken, exitCode: 3 }" });

    expect(await exec(name, ["hostname"], open)).toEqual({
      stdout: "web-0\n",
      stderr: "",
      result: { type: "exited", code: 0 },
    });
    expect(await exec(name, ["fails"], open)).toEqual({
      stdout: "",
      stderr: "broken\n",
      result: { type: "exited", code: 3 },
    });
  });

  test("says for every other command that it is simulated, and how to get a real one", async () => {
    await start("other", {});

    const { stdout, stderr, result } = await exec("other", ["sh"]);

    expect([stdout, result]).toEqual(["", { type: "exited", code: 126 }]);
    expect(stderr).toBe(
      "simulated: container main executes nothing; a pod with runtimeClassName: process runs real programs, on a cluster of setpoint up --process-node\n",
    );
  });

  test("shows its lines to an attached client until it ends", async () => {
    await start("attached", {}, { log: "first\n+300ms later", "exit-after": "600ms" });
    const streams = await openWebSocketCommand(connect(), {
      path: "/attach/default/attached/main?output=1",
      authority: "node",
      headers: {},
      options: { stdin: false, stdout: true, stderr: false, tty: false },
      protocols: V4,
      loop,
    });
    const { stdout, result } = remoteCommand(streams);

    expect(stdout && (await buffer(stdout)).toString()).toBe("later\n");
    expect(await result).toEqual({ type: "exited", code: 0 });
  });

  test("answers HTTP on declared ports, and explains the others", async () => {
    await start("ports", {}, { ports: "8080: hello" });
    const forward = await openPortForward(connect(), {
      path: "/portForward/default/ports",
      authority: "node",
      headers: {},
      loop,
    });
    const known = forward.connect(8080);
    known.stream.write("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    const unknown = forward.connect(9000);

    expect(await text(known.stream)).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*\r\n\r\n[^]*hello/);
    expect(await unknown.error).toContain("pod ports is simulated, and nothing listens on port 9000");
    forward.close();
    await forward.closed;
  });

  test("refuses streams of unknown pods and containers", async () => {
    await expect(exec("none", ["id"])).rejects.toThrow("unable to upgrade connection: pod does not exist");
  });
});
