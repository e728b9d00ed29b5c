import { once } from "node:events";
import type { Duplex } from "node:stream";
import { describe, expect, test } from "vitest";
import { pause } from "../../base/loop/pause.ts";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { duplexPair } from "../duplex-pair.ts";
import { received, upgradeServer } from "../upgrade-fixture.ts";
import { acceptWebSocket, chosenProtocol, offerWebSocket, protocolsIn } from "./accept-web-socket.ts";
import { connectWebSocket } from "./connect-web-socket.ts";
import type { MessageStream } from "./message-stream.ts";

const loop = createRealLoop({ name: "test" });
/** The next turn of the event loop. */
const TURN = { ms: 0, kind: "progress" } as const;
const MIB = 1024 * 1024;
const TARGET = { path: "/", authority: "server", headers: {}, protocols: ["a.example"] };

interface Ends {
  readonly client: MessageStream;
  readonly server: MessageStream;
}

async function joined(): Promise<Ends> {
  let server: MessageStream | undefined;
  const connect = upgradeServer((upgrade) => {
    server = acceptWebSocket(upgrade, "a.example");
  });
  const { messages } = await connectWebSocket(connect(), TARGET);
  if (server === undefined) throw new Error("expected a WebSocket");
  return { client: messages, server };
}

async function nextMessage(stream: MessageStream): Promise<unknown> {
  const [message] = (await once(stream, "data")) as readonly unknown[];
  return message;
}

async function messagesOf(stream: Duplex): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for await (const message of stream) found.push(message);
  return found;
}

describe("a WebSocket", () => {
  test("carries messages of text and bytes, and ends", async () => {
    const { client, server } = await joined();
    client.write("text");
    client.write(Buffer.from([1, 2]));
    client.end();

    expect(await messagesOf(server)).toEqual(["text", Buffer.from([1, 2])]);
  });

  test("slows its writer while the reader waits", async () => {
    const { client, server } = await joined();
    let sent = 0;
    while (client.write(Buffer.alloc(64 * 1024)) && sent < 10_000) {
      sent++;
      await pause(loop, TURN);
    }

    expect(sent).toBeLessThan(100);
    server.destroy();
  });

  test("holds one message for a reader that waits, however large messages are", async () => {
    const { client, server } = await joined();
    const [first, second] = [Buffer.alloc(MIB, 1), Buffer.alloc(MIB, 2)];
    for (const message of [first, second]) client.write(message);
    for (let turn = 0; turn < 50; turn++) await pause(loop, TURN);

    expect(server.readableLength).toBe(1);
    const read = [server.read() as unknown, await nextMessage(server)];
    expect(read.map((message) => (message as Buffer)[0])).toEqual([1, 2]);
    server.destroy();
  });

  test("closes when its connection is lost", async () => {
    const { client, server } = await joined();
    const closed = new Promise((resolve) => client.once("close", resolve));
    client.resume();
    server.destroy();

    await closed;
  });

  test("of a malformed request is answered with 400", async () => {
    const [client, socket] = duplexPair();
    const headers = { upgrade: "websocket", "sec-websocket-version": "13" };

    expect(acceptWebSocket({ headers, socket, head: Buffer.alloc(0) }, "")).toBeUndefined();
    expect(await received(client)).toContain("400 Bad Request");
  });

  test("can be offered to code that sends the response itself", () => {
    const headers = {
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    };
    const { status, headers: answered } = offerWebSocket(new Map(Object.entries(headers)), "x/1");

    expect([status, Object.fromEntries(answered)]).toEqual([
      101,
      {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-accept": "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
        "sec-websocket-protocol": "x/1",
      },
    ]);
  });
});

describe("protocols", () => {
  test.each([
    [["b", "a"], "b"],
    [["x", "a"], "a"],
    [["x"], undefined],
    [[], ""],
  ])("of %j choose %j", (requested, expected) => {
    expect(chosenProtocol(requested, ["a", "b", ""])).toBe(expected);
  });

  test("are split at commas", () => {
    expect(protocolsIn(" a,b , ")).toEqual(["a", "b"]);
    expect(protocolsIn(undefined)).toEqual([]);
  });
});
