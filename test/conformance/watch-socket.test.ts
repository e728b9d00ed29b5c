/** Watches over a WebSocket, on real connections. */
import type { TLSSocket } from "node:tls";
import { describe, expect, test } from "vitest";
import { openRaw, startServer } from "../../src/server/transport/fixture.ts";
import { TestApi } from "../api-harness.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const KEY = "dGhlIHNhbXBsZSBub25jZQ==";

function handshake(target: string, headers: Readonly<Record<string, string>> = {}): string {
  const fields = {
    host: "a",
    connection: "keep-alive, Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": KEY,
    ...headers,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${target} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

/** Bytes of a connection so far; reads on until there are enough. */
class Heard {
  readonly #socket: TLSSocket;
  bytes: Buffer = Buffer.alloc(0);
  readonly ended: Promise<unknown>;

  constructor(socket: TLSSocket) {
    this.#socket = socket;
    this.ended = new Promise((resolve) => socket.once("end", resolve));
    socket.on("data", (chunk: Buffer) => (this.bytes = Buffer.concat([this.bytes, chunk])));
  }

  async until(isEnough: (bytes: Buffer) => boolean): Promise<void> {
    while (!isEnough(this.bytes)) {
      await new Promise((resolve) => this.#socket.once("data", resolve));
    }
  }

  get head(): string {
    return this.bytes.subarray(0, this.bytes.indexOf("\r\n\r\n")).toString();
  }

  /** Bytes after the head. */
  get frames(): Buffer {
    return this.bytes.subarray(this.bytes.indexOf("\r\n\r\n") + 4);
  }
}

async function withMap(): Promise<TestApi> {
  const api = await TestApi.start();
  await api.send("POST", MAPS, { metadata: { name: "a" } });
  return api;
}

async function connected(
  target: string,
  headers: Readonly<Record<string, string>> = {},
  given?: TestApi,
): Promise<Connection> {
  const api = given ?? (await withMap());
  const server = await startServer(api.handler);
  const { key, cert } = server.pki.admin;
  const socket = openRaw(server, { key, cert });
  const heard = new Heard(socket);
  socket.write(handshake(target, headers));
  await heard.until((bytes) => bytes.includes("\r\n\r\n"));
  return { api, socket, heard };
}

interface Connection {
  readonly api: TestApi;
  readonly socket: TLSSocket;
  readonly heard: Heard;
}

describe("a watch over a WebSocket", () => {
  test("tells each event in a message of text, what existed and what happens", async () => {
    const { api, heard } = await connected(`${MAPS}?watch=1`, { "sec-websocket-protocol": "x" });
    await heard.until((bytes) => bytes.includes('"name":"a"'));
    await api.send("POST", MAPS, { metadata: { name: "b" } });
    await heard.until((bytes) => bytes.includes('"name":"b"'));

    expect(heard.head).toMatch(/^HTTP\/1\.1 101 /);
    expect(heard.head).toContain("sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    expect(heard.head).toContain("sec-websocket-protocol: x");
    const [opcode, marker] = heard.frames;
    const message = heard.frames.subarray(4, 4 + heard.frames.readUInt16BE(2)).toString();
    expect([opcode, marker]).toEqual([0x81, 126]);
    expect(JSON.parse(message)).toMatchObject({ type: "ADDED", object: { metadata: { name: "a" } } });
  });

  test("sends protobuf on request, without a length prefix", async () => {
    const accept = "application/vnd.kubernetes.protobuf";
    const { heard } = await connected(`${MAPS}?watch=1`, { accept });
    await heard.until(() => heard.frames.length > 20);

    const { frames } = heard;
    const content = frames.subarray(frames[1] === 126 ? 4 : 2);
    expect(frames[0]).toBe(0x82);
    // The first field of an event is its type.
    expect(content.subarray(0, 7).toString("latin1")).toBe("\n\u0005ADDED");
  });

  test("answers a ping, and a goodbye with the same", async () => {
    const api = await withMap();
    const { revision } = api.store.view;
    const target = `${MAPS}?watch=1&resourceVersion=${String(revision)}`;
    const { socket, heard } = await connected(target, {}, api);
    socket.write(Buffer.from([0x89, 0x82, 0, 0, 0, 0, 0x68, 0x69]));
    await heard.until(() => heard.frames.length >= 4);
    socket.write(Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8]));
    await heard.ended;

    expect([...heard.frames]).toEqual([0x8a, 2, 0x68, 0x69, 0x88, 2, 0x03, 0xe8]);
  });

  test("ends with a goodbye when there is no more to tell", async () => {
    const api = await withMap();
    await api.store.compact(api.store.view.revision);

    const { heard, socket } = await connected(`${MAPS}?watch=1&resourceVersion=1`, {}, api);
    const goodbye = Buffer.from([0x88, 2, 0x03, 0xe8]);
    await heard.until((bytes) => bytes.includes(goodbye));
    socket.write(Buffer.from([0x88, 0x80, 0, 0, 0, 0]));
    await heard.ended;

    expect(heard.frames.toString()).toContain('"type":"ERROR"');
    expect(heard.frames.subarray(-4)).toEqual(goodbye);
  });

  test.each([
    ["without a key", { "sec-websocket-key": "" }],
    ["of another version", { "sec-websocket-version": "7" }],
    ["of several protocols", { "sec-websocket-protocol": "a, b" }],
  ])("%s is refused", async (_, headers) => {
    const { heard } = await connected(`${MAPS}?watch=1`, headers);

    expect(heard.head).toMatch(/^HTTP\/1\.1 400 /);
  });
});
