/**
 * CVE-2019-9512, CVE-2019-9514, CVE-2019-9515, CVE-2023-44487, CVE-2023-45288: frames that cost a client nothing neither fill the server's
 * memory nor keep it working on cancelled requests. The test writes the frames itself, since no client sends them.
 */
import { once } from "node:events";
import type { TLSSocket } from "node:tls";
import { getHeapStatistics } from "node:v8";
import { describe, expect, test } from "vitest";
import {
  answer,
  openRaw,
  openSession,
  readAll,
  sendHttp2,
  startServer,
} from "../../../src/server/transport/fixture.ts";
import type { TestServer } from "../../../src/server/transport/fixture.ts";

const MIB = 1024 * 1024;
const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const [HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION] = [1, 2, 3, 4, 6, 8, 9];
const END_STREAM = 1;
const END_HEADERS = 4;
/** GET https / with the authority `a`, by HPACK's static table. */
const GET = Buffer.from([0x82, 0x87, 0x84, 0x41, 0x01, 0x61]);

interface Frame {
  readonly type: number | undefined;
  readonly flags?: number;
  readonly stream?: number;
  readonly payload?: Buffer;
}

function frame({ type = 0, flags = 0, stream = 0, payload = Buffer.alloc(0) }: Frame): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

async function connected(server: TestServer): Promise<TLSSocket> {
  const socket = openRaw(server, { ALPNProtocols: ["h2"] });
  await once(socket, "secureConnect");
  socket.write(Buffer.concat([PREFACE, frame({ type: SETTINGS })]));
  await once(socket, "data");
  return socket;
}

/** Writes while the server accepts, at most `count` pieces; returns whether the connection was closed. */
async function flood(socket: TLSSocket, piece: (at: number) => Buffer, count: number): Promise<boolean> {
  for (let at = 0; at < count && !socket.destroyed; at++) {
    if (socket.write(piece(at))) continue;
    await new Promise<void>((resolve) => {
      socket.once("drain", resolve);
      socket.once("close", () => resolve());
      if (socket.destroyed) resolve();
    });
    socket.removeAllListeners("drain").removeAllListeners("close");
  }
  return socket.destroyed;
}

/** Another client is served as usual. */
async function expectServed(server: TestServer): Promise<void> {
  expect(await readAll((await sendHttp2(openSession(server), { path: "/other" })).body)).toBe("ok");
}

function heapBytes(): number {
  const { used_heap_size: heap, malloced_memory: malloced, external_memory: external } = getHeapStatistics();
  return heap + malloced + external;
}

describe("a flood of", () => {
  test.each<readonly [string, Buffer]>([
    ["pings", frame({ type: PING, payload: Buffer.alloc(8) })],
    ["settings", frame({ type: SETTINGS, payload: Buffer.from([0, 4, 0, 0, 255, 255]) })],
  ])("%s whose answers nobody reads ends the connection", async (_what, one) => {
    const server = await startServer(async () => answer("ok"));
    const socket = await connected(server);
    socket.pause();
    const many = Buffer.concat(Array.from({ length: 1000 }, () => one));
    const before = heapBytes();

    const isClosed = await flood(socket, () => many, 3000);

    expect(isClosed).toBe(true);
    expect(heapBytes() - before).toBeLessThan(200 * MIB);
    await expectServed(server);
  });

  test.each<readonly [string, Buffer]>([
    ["priorities", frame({ type: PRIORITY, stream: 1, payload: Buffer.from([0, 0, 0, 3, 1]) })],
    ["window updates", frame({ type: WINDOW_UPDATE, payload: Buffer.from([0, 0, 0, 0]) })],
    ["frames that mean nothing", frame({ type: 0xee, stream: 7, payload: Buffer.alloc(16) })],
  ])("%s costs no memory", async (_what, one) => {
    const server = await startServer(async () => answer("ok"));
    const socket = await connected(server);
    socket.resume();
    const many = Buffer.concat(Array.from({ length: 1000 }, () => one));
    const before = heapBytes();

    await flood(socket, () => many, 300);

    expect(heapBytes() - before).toBeLessThan(100 * MIB);
    await expectServed(server);
  });

  test("continuations of headers that never end closes the connection", async () => {
    let seen = 0;
    const server = await startServer(async ({ target }) => {
      if (target !== "/other") seen += 1;
      return answer("ok");
    });
    const socket = await connected(server);
    socket.resume();
    socket.write(frame({ type: HEADERS, flags: END_STREAM, stream: 1, payload: GET }));
    // A new header per frame: a literal without indexing, one character and an empty value.
    const piece = frame({ type: CONTINUATION, stream: 1, payload: Buffer.from([0, 1, 0x78, 0]) });
    const many = Buffer.concat(Array.from({ length: 1000 }, () => piece));

    const isClosed = await flood(socket, () => many, 1000);

    expect(isClosed).toBe(true);
    expect(seen).toBe(0);
    await expectServed(server);
  });

  test("requests that are taken back at once ends the connection, and few of them are carried out", async () => {
    let carriedOut = 0;
    const server = await startServer(
      async ({ target }) => {
        if (target !== "/other") carriedOut += 1;
        return answer("ok");
      },
      { limits: { maxResetBurst: 50, maxResetsPerSecond: 0 } },
    );
    const socket = await connected(server);
    socket.resume();
    const request = (at: number): Buffer => {
      const stream = at * 2 + 1;
      return Buffer.concat([
        frame({ type: HEADERS, flags: END_STREAM | END_HEADERS, stream, payload: GET }),
        frame({ type: RST_STREAM, stream, payload: Buffer.from([0, 0, 0, 8]) }),
      ]);
    };
    const hundred = (at: number): Buffer =>
      Buffer.concat(Array.from({ length: 100 }, (_, i) => request(at * 100 + i)));

    const isClosed = await flood(socket, hundred, 1000);

    expect(isClosed).toBe(true);
    expect(carriedOut).toBeLessThan(2000);
    await expectServed(server);
  });

  test("streams beyond the bound is refused", async () => {
    let open = 0;
    const server = await startServer(
      async ({ target, signal }) => {
        if (target === "/other") return answer("ok");
        open += 1;
        if (!signal.aborted) await once(signal, "abort");
        return answer("late");
      },
      { limits: { maxStreamsPerSession: 20 } },
    );
    const socket = await connected(server);
    socket.resume();
    const request = (at: number): Buffer =>
      frame({ type: HEADERS, flags: END_STREAM | END_HEADERS, stream: at * 2 + 1, payload: GET });

    await flood(socket, request, 500);
    await expectServed(server);

    expect(open).toBeLessThanOrEqual(20);
  });
});
