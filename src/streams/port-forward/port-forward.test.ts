import type { Duplex } from "node:stream";
import { describe, expect, test } from "vitest";
import { pause } from "../../base/loop/pause.ts";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { duplexPair } from "../duplex-pair.ts";
import { received, upgradeServer } from "../upgrade-fixture.ts";
import type { UpgradeRequest } from "../upgrade.ts";
import { Channels } from "../websocket/channels.ts";
import { connectWebSocket } from "../websocket/connect-web-socket.ts";
import { acceptPortForward } from "./accept-port-forward.ts";
import { MessageBytes, TUNNEL_PROTOCOL } from "./message-bytes.ts";
import { openPortForward, portForwardOn } from "./open-port-forward.ts";
import type { PortForward } from "./open-port-forward.ts";

const loop = createRealLoop({ name: "test" });
/** The next turn of the event loop. */
const TURN = { ms: 0, kind: "progress" } as const;

/** A pod that answers in capitals once its client has sent everything. Port 81 is closed. */
async function connectToPod(port: number): Promise<Duplex> {
  if (port === 81) throw new Error("connection refused");
  const [pod, node] = duplexPair();
  void received(pod).then((text) => pod.end(text.toUpperCase()));
  return node;
}

function nodeServer(): () => Duplex {
  return upgradeServer((upgrade, query) => {
    void acceptPortForward({ upgrade, query, loop, connect: connectToPod });
  });
}

const NO_QUERY = new URLSearchParams();

/** The package's client cannot name a protocol with a slash, so the test adds it to the request. */
function asTunnel(upgrade: UpgradeRequest): UpgradeRequest {
  return { ...upgrade, headers: { ...upgrade.headers, "sec-websocket-protocol": TUNNEL_PROTOCOL } };
}

/** Removes the protocol from the response, which the package's client did not ask for. */
function withoutProtocol(socket: Duplex): Duplex {
  const [client, proxy] = duplexPair();
  proxy.pipe(socket);
  socket.once("data", (head: Buffer) => {
    proxy.write(head.toString("latin1").replace(/Sec-WebSocket-Protocol: .*\r\n/, ""), "latin1");
    socket.pipe(proxy);
  });
  return client;
}

async function forwarded(): Promise<PortForward> {
  return openPortForward(nodeServer()(), { path: "/portForward", authority: "node", headers: {}, loop });
}

describe("port forwarding", () => {
  test("carries 1 MiB both ways, and each direction ends on its own", async () => {
    const { connect } = await forwarded();
    const { stream, error } = connect(80);
    stream.end("x".repeat(1024 * 1024));

    expect((await received(stream)) === "X".repeat(1024 * 1024)).toBe(true);
    expect(await error).toBe("");
  });

  test("serves connections beside each other", async () => {
    const { connect } = await forwarded();
    const connections = ["a", "b", "c"].map((text) => {
      const { stream } = connect(80);
      stream.write(text);
      return stream;
    });
    for (const stream of connections.toReversed()) stream.end("!");

    expect(await Promise.all(connections.map((stream) => received(stream)))).toEqual(["A!", "B!", "C!"]);
  });

  test("reports the error of a connection, and serves the next", async () => {
    const { connect } = await forwarded();
    const refused = connect(81);
    refused.stream.resume();

    expect(await refused.error).toBe("error forwarding port 81: connection refused");
    const { stream } = connect(80);
    stream.end("still");
    expect(await received(stream)).toBe("STILL");
  });

  test("refuses streams without a port", async () => {
    const { connect } = await forwarded();

    expect(await connect(0).error).toBe("");
    await expect(received(connect(70_000).stream)).resolves.toBe("");
  });

  test("closes with its client", async () => {
    const forward = await forwarded();
    forward.close();

    await forward.closed;
  });

  test("works through a tunnel of messages", async () => {
    const connect = upgradeServer((upgrade) => {
      void acceptPortForward({ upgrade: asTunnel(upgrade), query: NO_QUERY, loop, connect: connectToPod });
    });
    const socket = withoutProtocol(connect());
    const { messages } = await connectWebSocket(socket, {
      path: "/",
      authority: "node",
      headers: {},
      protocols: [],
    });
    const forward = portForwardOn({ socket: new MessageBytes(messages), head: Buffer.alloc(0) }, loop);
    const { stream } = forward.connect(80);
    stream.end("tunnelled");

    expect(await received(stream)).toBe("TUNNELLED");
    forward.close();
    await forward.closed;
  });

  test("over channels takes the ports from the query", async () => {
    const target = {
      path: "/?port=80&port=81",
      authority: "node",
      headers: {},
      protocols: ["v4.channel.k8s.io"],
    };
    const { messages } = await connectWebSocket(nodeServer()(), target);
    const channels = new Channels(messages, { isBase64: false, closes: "none" });
    const [data, , refusedData, refused] = [0, 1, 2, 3].map((number) => channels.open(number));
    data?.end("hello");
    refusedData?.resume();
    const errors: Buffer[] = [];
    refused?.on("data", (piece: Buffer) => errors.push(piece));
    while (errors.length < 2) await pause(loop, TURN);
    messages.end();

    expect(Buffer.concat(errors).toString()).toBe("Q\0error forwarding port 81: connection refused");
    expect(await received(data as Duplex)).toBe("P\0");
  });
});
