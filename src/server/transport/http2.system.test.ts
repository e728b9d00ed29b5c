import { once } from "node:events";
import { constants } from "node:http2";
import { describe, expect, test } from "vitest";
import { answer, openRaw, openSession, pending, readAll, sendHttp2, startServer } from "./fixture.ts";

const MIB = 1024 * 1024;

/** Builds frames that Node's client would not send. */
function frame(type: number, { flags = 0, stream = 0, bytes = [] }: Partial<FrameParts>): Buffer {
  return Buffer.from([0, 0, bytes.length, type, flags, 0, 0, 0, stream, ...bytes]);
}

interface FrameParts {
  readonly flags: number;
  readonly stream: number;
  readonly bytes: readonly number[];
}

const SETTINGS = frame(4, {});
/** `GET /` at the authority `a`; nothing follows. */
const REQUEST = frame(1, { flags: 5, stream: 1, bytes: [0x82, 0x84, 0x87, 0x41, 1, 0x61] });
const PREFACE = Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), SETTINGS]);

describe("an HTTP/2 session", () => {
  test("carries a hundred watches and ordinary requests beside them", async () => {
    const gate = pending();
    async function* watch(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("first ");
      await gate.promise;
      yield Buffer.from("second");
    }
    const server = await startServer(async ({ target }) => answer(target === "/watch" ? watch() : "ok"));
    const session = openSession(server);
    const watches = await Promise.all(
      Array.from({ length: 100 }, () => sendHttp2(session, { path: "/watch" })),
    );

    const beside = await readAll((await sendHttp2(session)).body);
    gate.resolve();
    const texts = await Promise.all(watches.map(({ body }) => readAll(body)));

    expect(beside).toBe("ok");
    expect(new Set(texts)).toEqual(new Set(["first second"]));
  });

  test("lets a client send more than 64 KiB ahead only once a request on it was verified", async () => {
    const server = await startServer(async ({ queueEntry }) => {
      await new Promise<void>((resolve, reject) => {
        if (queueEntry?.isOwnedBy("alice") === false)
          queueEntry.queueFor("alice", { begin: resolve, refuse: reject });
        else resolve();
      });
      return answer("ok");
    });
    const session = openSession(server);
    await once(session, "remoteSettings");
    const before = session.state.remoteWindowSize;

    await readAll((await sendHttp2(session)).body);
    await readAll((await sendHttp2(session)).body);

    expect(before).toBe(65_535);
    expect(session.state.remoteWindowSize).toBeGreaterThan(MIB / 2);
  });

  test("offers at least 250 streams at once", async () => {
    const server = await startServer(async () => answer("ok"));
    const session = openSession(server);

    await once(session, "remoteSettings");

    expect(session.remoteSettings.maxConcurrentStreams).toBeGreaterThanOrEqual(250);
  });

  test("serves others while readers of large lists stall", async () => {
    const body = Buffer.alloc(20 * MIB);
    const server = await startServer(async ({ target }) => answer(target === "/list" ? body : "ok"));
    const session = openSession(server);
    const stalled = await Promise.all(
      Array.from({ length: 20 }, () => sendHttp2(session, { path: "/list" })),
    );

    const others: string[] = [];
    for (let i = 0; i < 50; i++) others.push(await readAll((await sendHttp2(session)).body));

    expect(new Set(others)).toEqual(new Set(["ok"]));
    for (const one of stalled) one.leave();
  });

  test("is closed when the client cancels too many requests", async () => {
    const allSeen = pending();
    let seen = 0;
    const server = await startServer(
      async ({ signal, target }) => {
        if (target === "/other") return answer("ok");
        if (++seen === 100) allSeen.resolve();
        if (!signal.aborted) await once(signal, "abort");
        return answer("");
      },
      { limits: { maxResetBurst: 50, maxResetsPerSecond: 0 } },
    );
    const session = openSession(server);
    const closed = once(session, "close");
    const streams = Array.from({ length: 100 }, () => session.request({ ":path": "/" }));
    await allSeen.promise;

    for (const stream of streams) {
      stream.on("error", () => undefined);
      stream.close(constants.NGHTTP2_CANCEL);
    }

    await closed;
    expect(await readAll((await sendHttp2(openSession(server), { path: "/other" })).body)).toBe("ok");
  });

  test("lets a client cancel any number of answered watches", async () => {
    async function* silence(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("begun");
      await new Promise(() => undefined);
    }
    const server = await startServer(async ({ target }) => answer(target === "/watch" ? silence() : "ok"), {
      limits: { maxResetBurst: 5, maxResetsPerSecond: 0 },
    });
    const session = openSession(server);

    for (let i = 0; i < 30; i++) {
      const watching = await sendHttp2(session, { path: "/watch" });
      watching.leave();
      await new Promise((resolve) => watching.body.once("close", resolve));
    }

    expect(await readAll((await sendHttp2(session)).body)).toBe("ok");
  });

  test("refuses headers above the bound, and stays open", async () => {
    const server = await startServer(async () => answer("ok"));
    const session = openSession(server);
    await once(session, "remoteSettings");
    const headers = Object.fromEntries(
      Array.from({ length: 50 }, (_, i) => [`x-${String(i)}`, "y".repeat(1000)]),
    );

    await expect(sendHttp2(session, { headers })).rejects.toThrow(
      /ENHANCE_YOUR_CALM|closed without an answer/,
    );

    const other = openSession(server);
    expect(await readAll((await sendHttp2(other)).body)).toBe("ok");
  });

  test("is closed when it sends nothing, or stops sending", async () => {
    const server = await startServer(async () => answer("ok"), {
      limits: { headersTimeoutMs: 40, idleTimeoutMs: 40 },
    });
    const [silent, used] = [openSession(server), openSession(server)];
    const closed = Promise.all([once(silent, "close"), once(used, "close")]);

    await readAll((await sendHttp2(used)).body);

    await closed;
  });

  test("stays open while it carries a silent watch", async () => {
    const gate = pending();
    async function* watch(): AsyncGenerator<Uint8Array> {
      await gate.promise;
      yield Buffer.from("late");
    }
    const server = await startServer(async ({ target }) => answer(target === "/watch" ? watch() : "ok"), {
      limits: { idleTimeoutMs: 20 },
    });
    const watching = await sendHttp2(openSession(server), { path: "/watch" });
    for (let i = 0; i < 4; i++) {
      const idleSince = openSession(server);
      await readAll((await sendHttp2(idleSince)).body);
      await once(idleSince, "close");
    }

    gate.resolve();

    expect(await readAll(watching.body)).toBe("late");
  });

  test.each([
    ["data behind the end of a request", frame(0, { stream: 1, bytes: [0] })],
    ["headers that cannot be unpacked", frame(1, { flags: 5, stream: 3, bytes: Array(8).fill(0xff) })],
    ["a ping of seven bytes", frame(6, { bytes: [0, 0, 0, 0, 0, 0, 0] })],
  ])("is closed with its watches after %s", async (_, wrong) => {
    const [begun, ended] = [pending(), pending()];
    async function* watch(signal: AbortSignal): AsyncGenerator<Uint8Array> {
      yield Buffer.from("begun");
      begun.resolve();
      signal.addEventListener("abort", () => ended.resolve());
      await new Promise(() => undefined);
    }
    const server = await startServer(async ({ signal }) => answer(watch(signal)), {
      limits: { idleTimeoutMs: 20, headersTimeoutMs: 300 },
    });
    const socket = openRaw(server, { ALPNProtocols: ["h2"] });
    const closed = once(socket, "close");
    socket.resume().write(Buffer.concat([PREFACE, REQUEST]));
    await begun.promise;

    socket.write(wrong);

    await Promise.all([closed, ended.promise]);
  });

  test("gets its response before its body ends, may send the rest, and stays open", async () => {
    const server = await startServer(async () => answer("no"));
    const session = openSession(server);
    const stream = session.request({ ":method": "POST", ":path": "/" }, { endStream: false });
    const closed = once(stream, "close");

    const text = await readAll(stream);
    stream.end(Buffer.alloc(MIB));
    await closed;

    expect([text, stream.rstCode]).toEqual(["no", constants.NGHTTP2_NO_ERROR]);
    expect(await readAll((await sendHttp2(session)).body)).toBe("no");
  });

  test("loses a stream whose unwanted body does not end", async () => {
    const server = await startServer(async () => answer("no"), { limits: { headersTimeoutMs: 40 } });
    const session = openSession(server);
    const silent = session.request({ ":method": "POST", ":path": "/" }, { endStream: false });
    const endless = session.request({ ":method": "POST", ":path": "/" }, { endStream: false });
    const streams = [silent, endless];
    const cut = streams.map(async (stream) => {
      stream.resume().on("error", () => undefined);
      await new Promise((resolve) => stream.once("close", resolve));
    });

    const pour = (): void => void endless.write(Buffer.alloc(MIB), () => !endless.destroyed && pour());
    pour();
    await Promise.all(cut);

    expect(await readAll((await sendHttp2(session)).body)).toBe("no");
  });

  // Node.js looped forever when a stream was reset after its response and the client had left.
  test("does not block others when it closes in the middle of an unwanted body", async () => {
    const server = await startServer(async () => answer("no"));
    const post = [0x83, 0x84, 0x87, 0x41, 1, 0x61];
    const requests = Buffer.concat([
      PREFACE,
      frame(1, { flags: 4, stream: 1, bytes: post }),
      frame(1, { flags: 5, stream: 3, bytes: post }),
    ]);
    const leave = async (): Promise<void> => {
      const socket = openRaw(server, { ALPNProtocols: ["h2"] });
      await once(socket.resume(), "secureConnect");
      socket.write(requests, () => socket.destroy());
      await once(socket, "close");
    };

    for (let i = 0; i < 30; i++) await Promise.all(Array.from({ length: 8 }, leave));

    expect(await readAll((await sendHttp2(openSession(server))).body)).toBe("no");
    // 240 handshakes take seconds on a busy machine.
  });

  test("answers CONNECT with 400", async () => {
    const server = await startServer(async () => answer("ok"));
    const session = openSession(server);
    const stream = session.request({ ":method": "CONNECT", ":authority": "b:443" });

    const [headers] = (await once(stream, "response")) as [Record<string, unknown>];

    expect(headers[":status"]).toBe(400);
  });
});
