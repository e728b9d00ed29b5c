/** The server's way to a kubelet, on real connections: protocols of clients, errors of kubelets, and connections that break. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import type { TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { certify } from "../../src/server/egress/certificate-fixture.ts";
import { openPortForward } from "../../src/streams/port-forward/open-port-forward.ts";
import {
  openSpdyCommand,
  openWebSocketCommand,
  remoteCommand,
} from "../../src/streams/remote-command/open-command.ts";
import { connectWebSocket } from "../../src/streams/websocket/connect-web-socket.ts";
import { KubeletWorld } from "./kubelet-world.ts";

const loop = createRealLoop({ name: "test" });
const PODS = "/api/v1/namespaces/default/pods";
const OPTIONS = { stdin: true, stdout: true, stderr: true, tty: false };

/** A connection of the administrator. */
async function dialServer({ cluster }: KubeletWorld): Promise<TLSSocket> {
  const pem = (name: string): Buffer => readFileSync(join(cluster.dataDir, "pki", name));
  const { hostname, port } = new URL(cluster.server);
  const socket = connectTls({
    host: hostname,
    port: Number(port),
    ca: pem("ca.crt"),
    cert: pem("admin.crt"),
    key: pem("admin.key"),
    ALPNProtocols: ["http/1.1"],
  });
  await once(socket, "secureConnect");
  onTestFinished(() => void socket.destroy());
  return socket;
}

function execPath(pod: string, ...command: readonly string[]): string {
  const query = new URLSearchParams({ stdin: "true", stdout: "true", stderr: "true" });
  for (const word of command) query.append("command", word);
  return `${PODS}/${pod}/exec?${query.toString()}`;
}

function target(path: string, protocols: readonly string[]) {
  return { path, authority: "server", headers: {}, options: OPTIONS, protocols, loop };
}

/** Waits for a condition of another process or connection. */
async function until(isMet: () => boolean): Promise<void> {
  while (!isMet()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("a kubelet behind the server", () => {
  let world: KubeletWorld;
  beforeAll(async () => {
    world = await KubeletWorld.start();
    for (const name of ["missing", "broken", "quiet"]) await world.addPod(name);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  describe("serves a log", () => {
    test("as text", async () => {
      const { code, headers, text: body } = await world.cluster.ask("GET", `${PODS}/web/log?container=main`);

      expect([code, headers["content-type"], body]).toEqual([200, "text/plain", "line 1\n"]);
    });

    test.each([
      ["", Buffer.from("line 1\n")],
      ["binary.k8s.io", Buffer.from("line 1\n")],
      ["base64.binary.k8s.io", Buffer.from("line 1\n").toString("base64")],
    ])("over a WebSocket with the protocol %j", async (protocol, expected) => {
      const { messages } = await connectWebSocket(
        await dialServer(world),
        target(`${PODS}/web/log`, protocol === "" ? [] : [protocol]),
      );
      const found: unknown[] = [];
      for await (const message of messages) found.push(message);

      expect(found).toEqual([expected]);
    });

    test.each([
      [`${PODS}/web/log`, "v4.channel.k8s.io", 403, "requested protocol(s) are not supported"],
      [`${PODS}/missing/log`, "binary.k8s.io", 404, "could not find the requested resource"],
    ])("over a WebSocket to %s with %s not at all", async (path, protocol, status, message) => {
      const refused: unknown = await connectWebSocket(
        await dialServer(world),
        target(path, [protocol]),
      ).catch((error: unknown) => error);

      expect(refused).toMatchObject({ status, message: expect.stringContaining(message) as string });
    });

    test.each([
      ["missing", 404, "the server could not find the requested resource ( pods/log missing)"],
      ["broken", 500, "Internal error occurred: log file is gone\n"],
    ])("of pod %s with the kubelet's error", async (pod, code, message) => {
      expect(await world.cluster.ask("GET", `${PODS}/${pod}/log`)).toMatchObject({
        code,
        body: { kind: "Status", message },
      });
    });
  });

  test("200 logs are followed at once, others are not delayed, and all end with their clients", async () => {
    const pem = (name: string): Buffer => readFileSync(join(world.cluster.dataDir, "pki", name));
    const identity = { ca: pem("ca.crt"), cert: pem("admin.crt"), key: pem("admin.key") };
    const sessions = [1, 2, 3, 4].map(() => connectHttp2(world.cluster.server, identity));
    const followed = sessions.flatMap((session) =>
      Array.from({ length: 50 }, () => session.request({ ":path": `${PODS}/web/log?follow=true` })),
    );
    await Promise.all(followed.map(async (stream) => once(stream, "data")));
    expect(world.kubelet.followers.size).toBe(200);

    const { text: log } = await world.cluster.ask("GET", `${PODS}/web/log`);
    expect([log, world.kubelet.followers.size]).toEqual(["line 1\n", 200]);

    for (const stream of followed.slice(0, 100)) stream.close();
    await until(() => world.kubelet.followers.size === 100);
    for (const session of sessions) session.destroy();
    await until(() => world.kubelet.followers.size === 0);
  });

  test("a log without a line is followed until its client leaves", async () => {
    const socket = await dialServer(world);
    socket.write(`GET ${PODS}/quiet/log?follow=true HTTP/1.1\r\nhost: a\r\n\r\n`);
    await until(() => world.kubelet.followers.size === 1);
    socket.destroy();

    await until(() => world.kubelet.followers.size === 0);
  });

  describe("runs commands", () => {
    test.each(["v4.channel.k8s.io", "channel.k8s.io", "base64.channel.k8s.io", "v4.base64.channel.k8s.io"])(
      "for a client that speaks %s",
      async (protocol) => {
        const socket = await dialServer(world);
        const command = remoteCommand(
          await openWebSocketCommand(socket, target(execPath("web", "echo", "hi"), [protocol])),
        );

        expect(await text(command.stdout as Duplex)).toBe("hi\n");
        expect(await command.result).toEqual({ type: "exited", code: 0 });
      },
    );

    test.each([
      ["SPDY", openSpdyCommand, "v4.channel.k8s.io"],
      ["WebSocket", openWebSocketCommand, "v5.channel.k8s.io"],
    ])("whose input is half closed, over %s", async (_name, open, protocol) => {
      const socket = await dialServer(world);
      const command = remoteCommand(
        await open(socket, target(execPath("web", "sh", "-c", "cat; echo rest"), [protocol])),
      );
      command.stdin?.end("input\n");

      expect(await text(command.stdout as Duplex)).toBe("input\nrest\n");
      expect(await command.result).toEqual({ type: "exited", code: 0 });
    });

    test.each([
      ["SPDY", openSpdyCommand, "v4.channel.k8s.io"],
      ["WebSocket v4", openWebSocketCommand, "v4.channel.k8s.io"],
      ["WebSocket v5", openWebSocketCommand, "v5.channel.k8s.io"],
    ])("that end when a client over %s vanishes", async (_name, open, protocol) => {
      const socket = await dialServer(world);
      await open(socket, target(execPath("web", "sleep", "100"), [protocol]));
      await until(() => world.kubelet.children.size === 1);
      socket.destroy();

      await until(() => world.kubelet.children.size === 0);
    });

    test.each([
      ["SPDY", openSpdyCommand, "v4.channel.k8s.io"],
      ["WebSocket v5", openWebSocketCommand, "v5.channel.k8s.io"],
    ])("whose client over %s learns that the kubelet is gone", async (_name, open, protocol) => {
      const socket = await dialServer(world);
      const command = remoteCommand(await open(socket, target(execPath("web", "sleep", "100"), [protocol])));
      await until(() => world.kubelet.children.size === 1);
      for (const each of world.kubelet.sockets) each.destroy();

      expect(await command.result).toMatchObject({ type: "failed" });
      await until(() => world.kubelet.children.size === 0);
    });

    test("only for clients that ask to switch protocols", async () => {
      expect(await world.cluster.ask("POST", execPath("web", "ls"))).toMatchObject({
        code: 400,
        body: { message: "Upgrade request required" },
      });
    });
  });

  test("forwards ports for a SPDY client, and reports a closed port", async () => {
    const echo = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket)).listen(
      0,
      "127.0.0.1",
    );
    onTestFinished(() => void echo.close());
    await once(echo, "listening");
    const { port } = echo.address() as AddressInfo;
    const forward = await openPortForward(await dialServer(world), {
      path: `${PODS}/web/portforward`,
      authority: "server",
      headers: {},
      loop,
    });
    const { stream } = forward.connect(port);
    stream.end("there and back");

    expect(await text(stream)).toBe("there and back");
    expect(await forward.connect(1).error).toContain("error forwarding port 1: connect ECONNREFUSED");
    forward.close();
  });

  describe("that cannot be reached", () => {
    test("refuses connections", async () => {
      const closed = createServer().listen(0, "127.0.0.1");
      await once(closed, "listening");
      const { port } = closed.address() as AddressInfo;
      closed.close();
      await world.addNode("gone", port);
      await world.addPod("on-gone", "gone");
      const dialled = `dial tcp 127.0.0.1:${port}: connect: connection refused`;

      expect((await world.cluster.ask("GET", `${PODS}/on-gone/log`)).body).toMatchObject({
        code: 500,
        message: `Get "https://127.0.0.1:${port}/containerLogs/default/on-gone/main": ${dialled}`,
      });
      await expect(
        openSpdyCommand(await dialServer(world), target(execPath("on-gone", "ls"), ["v4.channel.k8s.io"])),
      ).rejects.toMatchObject({
        status: 500,
        body: expect.stringContaining(`error dialing backend: ${dialled}`) as string,
      });
      expect((await world.cluster.ask("GET", "/api/v1/nodes/gone/proxy/healthz")).body).toMatchObject({
        code: 503,
        message: `error trying to reach service: ${dialled}`,
      });
    });

    test("has no address that may be dialled", async () => {
      await world.addNode("metadata", 10_250, "169.254.169.254");
      await world.addPod("on-metadata", "metadata");

      expect((await world.cluster.ask("GET", `${PODS}/on-metadata/log`)).body).toMatchObject({
        code: 503,
        message: 'node "metadata" cannot be reached: the server does not dial its address 169.254.169.254',
      });
    });
  });

  test("is reached at the port that the proxy's path names", async () => {
    const other = await world.cluster.ask(
      "GET",
      `/api/v1/nodes/https:n1:${world.kubelet.port}/proxy/a/b?c=d`,
    );
    const redirect = await world.cluster.ask("GET", "/api/v1/nodes/n1/proxy");

    expect([other.code, other.text]).toEqual([200, "GET /a/b?c=d"]);
    expect([redirect.code, redirect.headers["location"]]).toEqual([301, "/api/v1/nodes/n1/proxy/"]);
  });

  test("leads to no other program on loopback", async () => {
    const { port } = new URL(world.cluster.server);

    const { body } = await world.cluster.ask("GET", `/api/v1/nodes/https:n1:${port}/proxy/version`);

    const why = "the server does not dial its address 127.0.0.1";
    expect(body).toMatchObject({ code: 503, message: `node "n1" cannot be reached: ${why}` });
  });
});

describe("a kubelet whose certificate is verified", () => {
  test("with the right authority is trusted, and with another only on request", async () => {
    const world = await KubeletWorld.start();
    onTestFinished(() => world[Symbol.asyncDispose]());
    const stranger = await certify({ commonName: "stranger", isAuthority: true });
    const ask = async (cert: string, query = ""): Promise<readonly unknown[]> => {
      const { code, text: body } = await world.askTrusting(cert, `${PODS}/web/log${query}`);
      return [code, body];
    };

    expect(await ask(world.authority.cert)).toEqual([200, "line 1\n"]);
    const [code, refusal] = await ask(stranger.cert);
    expect([code, refusal]).toEqual([
      500,
      expect.stringContaining("x509: certificate signed by unknown authority"),
    ]);
    expect(await ask(stranger.cert, "?insecureSkipTLSVerifyBackend=true")).toEqual([200, "line 1\n"]);
  });
});

test("a kubelet that accepts connections and never answers delays only its own requests, for a bounded time", async () => {
  const world = await KubeletWorld.start({
    kubelet: { caFile: undefined, addressTypes: undefined, timeoutMs: 400 },
  });
  onTestFinished(() => world[Symbol.asyncDispose]());
  const silent = createServer(() => undefined).listen(0, "127.0.0.1");
  onTestFinished(() => void silent.close());
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  await world.addNode("silent", port);
  await world.addPod("on-silent", "silent");

  const asked = world.cluster.ask("GET", `${PODS}/on-silent/log`);

  expect((await world.cluster.ask("GET", `${PODS}/web/log`)).code).toBe(200);
  expect((await asked).body).toMatchObject({
    code: 500,
    message: expect.stringContaining(`dial tcp 127.0.0.1:${port}: i/o timeout`) as string,
  });
});
