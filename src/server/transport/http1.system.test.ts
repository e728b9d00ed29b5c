import { once } from "node:events";
import { connect as connectPlain, createServer as createListener } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { describe, expect, test } from "vitest";
import type { HttpRequest } from "../request/http.ts";
import { answer, openRaw, pending, readUntilClosed, startServer } from "./fixture.ts";
import { Chunks } from "./http1.ts";

const OK = "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";

describe("malformed HTTP/1.1", () => {
  test.each([
    ["no HTTP at all", "hello\r\n\r\n", 400],
    ["bytes of TLS within TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400],
    ["two lengths", "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx", 400],
    [
      "length and encoding",
      "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
      400,
    ],
    [
      "an encoding that does not end in chunked",
      "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked, x\r\n\r\n",
      400,
    ],
    ["a space before the colon", "GET / HTTP/1.1\r\nhost : a\r\n\r\n", 400],
    ["lines that end in LF only", "GET / HTTP/1.1\nhost: a\n\n", 400],
    ["no host", "GET / HTTP/1.1\r\n\r\n", 400],
    ["two hosts", "GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n", 400],
    ["the same host twice", "GET / HTTP/1.1\r\nhost: a\r\nhost: a\r\n\r\n", 400],
    ["a host that is none", "GET / HTTP/1.1\r\nhost: a/b\r\n\r\n", 400],
    [
      "two hosts and an upgrade",
      "GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
      400,
    ],
    ["no host and an upgrade", "GET / HTTP/1.1\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n", 400],
    ["two hosts, and another request", `GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n${OK}`, 400],
    ["too long headers", `GET / HTTP/1.1\r\nhost: a\r\nx: ${"y".repeat(33 * 1024)}\r\n\r\n`, 431],
    [
      "too many headers",
      `GET / HTTP/1.1\r\nhost: a\r\n${"x: yyyyyyyyyyyyyyyyyyyy\r\n".repeat(1600)}\r\n`,
      431,
    ],
    ["a too long target", `GET /${"y".repeat(33 * 1024)} HTTP/1.1\r\nhost: a\r\n\r\n`, 431],
  ])("(%s) is refused and closed, and others are served on", async (_kind, text, status) => {
    let handled = 0;
    const server = await startServer(async () => answer(String(++handled)));
    const socket = openRaw(server);
    const closed = readUntilClosed(socket);

    socket.write(text);

    expect(await closed).toMatch(new RegExp(`^HTTP/1.1 ${String(status)} `));
    const other = openRaw(server);
    other.write(OK);
    expect(await readUntilClosed(other)).toMatch(/\r\n\r\n1$/);
  });

  test.each([
    ["two hosts", `GET /2 HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n${OK}`, 400],
    ["bytes that are no request", "hello\r\n\r\n", 400],
    ["too long headers", `GET /2 HTTP/1.1\r\nhost: a\r\nx: ${"y".repeat(33 * 1024)}\r\n\r\n`, 431],
  ])("a request before %s is answered first", async (_, text, status) => {
    const gate = pending();
    const targets: string[] = [];
    const server = await startServer(async ({ target }) => {
      targets.push(target);
      await gate.promise;
      return answer("first");
    });
    const socket = openRaw(server);
    const closed = readUntilClosed(socket);

    socket.write(`GET /1 HTTP/1.1\r\nhost: a\r\n\r\n${text}`);
    await expect.poll(() => targets).toEqual(["/1"]);
    gate.resolve();

    expect(await closed).toMatch(new RegExp(`^HTTP/1.1 200 [^]*firstHTTP/1.1 ${String(status)} `));
    expect(targets).toEqual(["/1"]);
  });

  test("a malformed body is refused instead of its own response, and of no other", async () => {
    const started = pending();
    const server = await startServer(async (request) => {
      started.resolve();
      await request.readBody(1000);
      return answer("ok");
    });
    const broken = "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n";
    const [alone, behind] = [openRaw(server), openRaw(server)];
    const answers = Promise.all([readUntilClosed(alone), readUntilClosed(behind)]);

    alone.write(broken);
    await started.promise;
    alone.write("y\r\n");
    behind.write(`${broken}0\r\n\r\n${broken}y\r\n`);

    const [first, second] = await answers;
    expect(first).toMatch(/^HTTP\/1.1 400 /);
    expect(second).not.toContain("HTTP/1.1 400 ");
  });

  test.each([
    ["no host", "x: y", 400],
    ["two hosts", "host: a\r\nhost: b", 400],
    ["an unknown expectation", "host: a\r\nexpect: more", 417],
  ])("bytes after %s are ignored, also an upgrade", async (_, headers, code) => {
    const targets: string[] = [];
    const server = await startServer(async ({ target }) => {
      targets.push(target);
      return answer("ok");
    });
    const socket = openRaw(server);
    const closed = readUntilClosed(socket);

    const upgrade = "GET /2 HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n";
    socket.write(`GET /1 HTTP/1.1\r\n${headers}\r\n\r\n${upgrade}`);

    expect(await closed).toMatch(new RegExp(`^HTTP/1.1 ${String(code)} `));
    expect(targets).toEqual([]);
  });

  test("CONNECT is closed without an answer", async () => {
    const server = await startServer(async () => answer("ok"));
    const socket = openRaw(server);

    socket.write("CONNECT b:443 HTTP/1.1\r\nhost: a\r\n\r\n");

    expect(await readUntilClosed(socket)).toBe("");
  });

  test("headers that time out are answered 408", async () => {
    const server = await startServer(async () => answer("ok"), { limits: { headersTimeoutMs: 60 } });
    const socket = openRaw(server);

    socket.write("GET / HTTP/1.1\r\nhost: a\r\nx: ");

    expect(await readUntilClosed(socket)).toMatch(/^HTTP\/1.1 408 /);
  });

  test("an idle connection is closed", async () => {
    const server = await startServer(async () => answer("ok"), { limits: { idleTimeoutMs: 30 } });
    const socket = openRaw(server);

    socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");

    expect(await readUntilClosed(socket)).toMatch(/ok$/);
  });

  test("a handshake that times out closes the connection", async () => {
    const server = await startServer(async () => answer("ok"), { limits: { handshakeTimeoutMs: 30 } });
    const raw = connectPlain({ host: "127.0.0.1", port: server.listener.port });

    raw.write("\x16");

    await once(raw, "close");
  });
});

describe("an HTTP/1.1 connection", () => {
  test("carries out pipelined requests one after the other", async () => {
    const gate = pending();
    const begun: string[] = [];
    const server = await startServer(async ({ target }) => {
      begun.push(target);
      if (target === "/0") await gate.promise;
      return answer(`(${target})`);
    });
    const socket = openRaw(server);
    const targets = Array.from({ length: 90 }, (_, n) => `/${String(n)}`);
    const closed = readUntilClosed(socket);

    socket.write(`${targets.map((target) => `GET ${target} HTTP/1.1\r\nhost: a\r\n\r\n`).join("")}${OK}`);
    await expect.poll(() => begun).toEqual(["/0"]);
    const other = openRaw(server);
    other.write(OK);
    await readUntilClosed(other);

    expect(begun).toEqual(["/0", "/"]);
    gate.resolve();
    expect((await closed).match(/\(\S*\)/g)).toEqual([...targets, "/"].map((target) => `(${target})`));
  });

  test("is cut when the client pipelines too many requests", async () => {
    const server = await startServer(async ({ signal }) => {
      await once(signal, "abort");
      return answer("");
    });
    const socket = openRaw(server);

    socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n".repeat(102));

    expect(await readUntilClosed(socket)).toBe("");
  });

  test("drops pipelined requests of a client that has disconnected", async () => {
    const begun = pending();
    const left = pending();
    const targets: string[] = [];
    const server = await startServer(async ({ target, signal }) => {
      targets.push(target);
      begun.resolve();
      await once(signal, "abort");
      left.resolve();
      return answer("");
    });
    const socket = openRaw(server);
    socket.write(`GET /1 HTTP/1.1\r\nhost: a\r\n\r\n${OK}`);
    await begun.promise;

    socket.destroy();
    await left.promise;
    await server.listener.close({ graceMs: 0 });

    expect(targets).toEqual(["/1"]);
  });

  test("continues after an unread body", async () => {
    const server = await startServer(async () => answer("ok"));
    const socket = openRaw(server);

    socket.write(`POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\n${"x".repeat(100_000)}${OK}`);

    expect((await readUntilClosed(socket)).match(/ok/g)).toHaveLength(2);
  });

  test("is cut when an unread body does not end", async () => {
    const server = await startServer(async () => answer("no", { status: 401 }));
    const socket = openRaw(server);
    const closed = readUntilClosed(socket);
    const send = (): void => {
      while (socket.write(Buffer.alloc(64 * 1024)));
    };

    socket.write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000000\r\n\r\n");
    socket.on("drain", send);
    send();

    expect(await closed).toMatch(/^HTTP\/1.1 401 /);
  });

  test("closes after a stream to a client without chunked encoding", async () => {
    async function* pieces(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("one ");
      yield Buffer.from("two");
    }
    const server = await startServer(async () => answer(pieces()));
    const socket = openRaw(server);

    socket.write("GET / HTTP/1.0\r\nhost: a\r\n\r\n");

    expect(await readUntilClosed(socket)).toMatch(/\r\n\r\none two$/);
  });

  test("is cut when the headers of a response are invalid", async () => {
    const server = await startServer(async () => answer("", { headers: new Map([["warning", "a\r\nb"]]) }));
    const socket = openRaw(server);

    socket.write(OK);

    expect(await readUntilClosed(socket)).toBe("");
    expect(server.logged).toHaveLength(1);
  });

  test("joins repeated headers", async () => {
    const server = await startServer(async ({ headers }) => answer(headers.get("accept") ?? ""));
    const socket = openRaw(server);

    socket.write(`GET / HTTP/1.1\r\nhost: a\r\nAccept: a/b\r\naccept: c/d\r\nconnection: close\r\n\r\n`);

    expect(await readUntilClosed(socket)).toMatch(/\r\n\r\na\/b, c\/d$/);
  });
});

describe("a request to upgrade", () => {
  const UPGRADE = "GET /exec HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";

  test("is answered like any other when refused, and is the last one", async () => {
    const server = await startServer(async ({ headers }) =>
      answer(headers.get("upgrade") ?? "", { status: 503 }),
    );
    const socket = openRaw(server);

    socket.write(UPGRADE + OK);

    expect(await readUntilClosed(socket)).toMatch(/^HTTP\/1.1 503 [^]*\r\n\r\nwebsocket$/);
  });

  test("joins the connection with the other side when granted, early bytes first", async () => {
    const seen = pending<HttpRequest>();
    const [near, far] = await connectedPair();
    const server = await startServer(async (request) => {
      seen.resolve(request);
      const headers = new Map([["upgrade", "websocket"]]);
      const switched = { stream: near, head: Buffer.from("welcome") };
      return { status: 101, headers, body: new Uint8Array(), switched };
    });
    const socket = openRaw(server, server.client(server.pki.admin));
    far.once("data", (bytes: Buffer) => far.end(`heard ${bytes.toString()}`));

    socket.write(`${UPGRADE}first bytes`);

    expect(await readUntilClosed(socket)).toBe(
      "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\nwelcomeheard first bytes",
    );
    const { method, target, headers, peer, isUpgrade } = await seen.promise;
    expect([method, target, headers.get("upgrade"), peer?.user, isUpgrade]).toEqual([
      "GET",
      "/exec",
      "websocket",
      "kubernetes-admin",
      true,
    ]);
  });

  test("closes the other side when the client disconnects", async () => {
    const [near] = await connectedPair();
    const server = await startServer(async () => ({
      status: 101,
      headers: new Map(),
      body: new Uint8Array(),
      switched: { stream: near, head: Buffer.alloc(0) },
    }));
    const socket = openRaw(server);
    socket.write(UPGRADE);
    await once(socket, "data");

    socket.destroy();

    if (!near.closed) await once(near, "close");
    expect(near.destroyed).toBe(true);
  });

  test("closes the connection while an earlier request waits for its response", async () => {
    const waiting = pending<void>();
    const targets: string[] = [];
    const server = await startServer(async ({ target }) => {
      targets.push(target);
      await waiting.promise;
      return answer("late");
    });
    const socket = openRaw(server);

    socket.write(OK.replace("connection: close\r\n", "") + UPGRADE);

    expect(await readUntilClosed(socket)).toBe("");
    waiting.resolve();
    expect(targets).not.toContain("/exec");
  });

  test("does not expose its early bytes to a handler that reads a body", async () => {
    const server = await startServer(async (request) => answer(await request.readBody(1000)));
    const socket = openRaw(server);

    socket.write(`${UPGRADE.replace("\r\n\r\n", "\r\ncontent-length: 5\r\n\r\n")}hello`);

    expect(await readUntilClosed(socket)).toMatch(/content-length: 0\r\n[^]*\r\n\r\n$/);
  });
});

/** Both ends of one connection. */
async function connectedPair(): Promise<readonly [Socket, Socket]> {
  const listener = createListener().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const near = connectPlain((listener.address() as AddressInfo).port, "127.0.0.1");
  const [far] = (await once(listener, "connection")) as [Socket];
  listener.close();
  return [near, far];
}

describe("a streamed body", () => {
  test("arrives whole", async () => {
    const server = await startServer(async (request) => {
      const pieces: Uint8Array[] = [];
      for await (const piece of request.streamBody?.() ?? []) pieces.push(piece);
      return answer(Buffer.concat(pieces));
    });
    const socket = openRaw(server);

    socket.write("POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n");
    socket.write("5\r\nhello\r\n");
    socket.write("0\r\n\r\n");

    expect(await readUntilClosed(socket)).toMatch(/\r\n\r\nhello$/);
  });
});

describe("an answer on HTTP/1.1", () => {
  test.each([256, 16 * 1024, 16 * 1024 + 1])(
    "of %i bytes arrives byte for byte, whatever they are",
    async (length) => {
      const body = Buffer.from(Array.from({ length }, (_, at) => at % 256));
      const server = await startServer(async () => answer(body.subarray(0)));
      const socket = openRaw(server);
      const pieces: Buffer[] = [];
      socket.on("data", (piece: Buffer) => pieces.push(piece));

      socket.write(OK);
      await once(socket, "close");

      const received = Buffer.concat(pieces);
      const start = received.indexOf("\r\n\r\n") + 4;
      expect(received.subarray(start).equals(body)).toBe(true);
      expect(received.toString("latin1", 0, start)).toContain(`content-length: ${String(length)}\r\n`);
    },
  );
});

test("a chunk starts with its length in hexadecimal digits and ends with a line break", () => {
  const text = "x".repeat(300);

  expect(Buffer.from(new Chunks().of(Buffer.from(text))).toString()).toBe(`12c\r\n${text}\r\n`);
});

test("all watchers of a piece share one chunk, also when others get another piece in between", () => {
  const chunks = new Chunks();
  const [piece, other] = [Buffer.from("a"), Buffer.from("a")];
  const chunk = chunks.of(piece);

  expect(chunks.of(other)).not.toBe(chunk);
  expect(chunks.of(piece)).toBe(chunk);
});
