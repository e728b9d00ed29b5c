import { once } from "node:events";
import { connect as connectPlain } from "node:net";
import { describe, expect, test } from "vitest";
import { answer, openRaw, pending, readUntilClosed, startServer } from "./fixture.ts";
import type { UpgradeRequest } from "./http1.ts";

const OK = "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";

describe("HTTP/1.1 that cannot be understood", () => {
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

  test("CONNECT is closed without an answer", async () => {
    const server = await startServer(async () => answer("ok"));
    const socket = openRaw(server);

    socket.write("CONNECT b:443 HTTP/1.1\r\nhost: a\r\n\r\n");

    expect(await readUntilClosed(socket)).toBe("");
  });

  test("headers that do not end in time are answered 408", async () => {
    const server = await startServer(async () => answer("ok"), { limits: { headersTimeoutMs: 60 } });
    const socket = openRaw(server);

    socket.write("GET / HTTP/1.1\r\nhost: a\r\nx: ");

    expect(await readUntilClosed(socket)).toMatch(/^HTTP\/1.1 408 /);
  });

  test("a connection that is not used for long is closed", async () => {
    const server = await startServer(async () => answer("ok"), { limits: { idleTimeoutMs: 30 } });
    const socket = openRaw(server);

    socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");

    expect(await readUntilClosed(socket)).toMatch(/ok$/);
  });

  test("a handshake that is not finished in time is closed", async () => {
    const server = await startServer(async () => answer("ok"), { limits: { handshakeTimeoutMs: 30 } });
    const raw = connectPlain({ host: "127.0.0.1", port: server.listener.port });

    raw.write("\x16");

    await once(raw, "close");
  });
});

describe("an HTTP/1.1 connection", () => {
  test("answers requests sent in one go in their order", async () => {
    const gate = pending();
    const server = await startServer(async ({ target }) => {
      if (target === "/1") await gate.promise;
      if (target === "/2") gate.resolve();
      return answer(`(${target})`);
    });
    const socket = openRaw(server);

    socket.write(`GET /1 HTTP/1.1\r\nhost: a\r\n\r\nGET /2 HTTP/1.1\r\nhost: a\r\n\r\n${OK}`);

    expect((await readUntilClosed(socket)).match(/\(\S*\)/g)).toEqual(["(/1)", "(/2)", "(/)"]);
  });

  test("goes on after a body that nobody read", async () => {
    const server = await startServer(async () => answer("ok"));
    const socket = openRaw(server);

    socket.write(`POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\n${"x".repeat(100_000)}${OK}`);

    expect((await readUntilClosed(socket)).match(/ok/g)).toHaveLength(2);
  });

  test("is cut when a body that nobody reads does not end", async () => {
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

  test("of a client that knows no chunks ends with the stream", async () => {
    async function* pieces(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("one ");
      yield Buffer.from("two");
    }
    const server = await startServer(async () => answer(pieces()));
    const socket = openRaw(server);

    socket.write("GET / HTTP/1.0\r\nhost: a\r\n\r\n");

    expect(await readUntilClosed(socket)).toMatch(/\r\n\r\none two$/);
  });

  test("is cut when the headers of an answer cannot be sent as they are", async () => {
    const server = await startServer(async () => answer("", { headers: new Map([["warning", "a\r\nb"]]) }));
    const socket = openRaw(server);

    socket.write(OK);

    expect(await readUntilClosed(socket)).toBe("");
    expect(server.logged).toHaveLength(1);
  });

  test("joins headers that come more than once", async () => {
    const server = await startServer(async ({ headers }) => answer(headers.get("accept") ?? ""));
    const socket = openRaw(server);

    socket.write(`GET / HTTP/1.1\r\nhost: a\r\nAccept: a/b\r\naccept: c/d\r\nconnection: close\r\n\r\n`);

    expect(await readUntilClosed(socket)).toMatch(/\r\n\r\na\/b, c\/d$/);
  });
});

describe("a request to upgrade", () => {
  const UPGRADE = "GET /exec HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";

  test("is a request like any other while nobody takes upgrades, and the last one", async () => {
    const server = await startServer(async ({ headers }) =>
      answer(headers.get("upgrade") ?? "", { status: 503 }),
    );
    const socket = openRaw(server);

    socket.write(UPGRADE + OK);

    expect(await readUntilClosed(socket)).toMatch(/^HTTP\/1.1 503 [^]*\r\n\r\nwebsocket$/);
  });

  test("hands over the connection with who is at its other end", async () => {
    const seen = pending<UpgradeRequest>();
    const server = await startServer(async () => answer("ok"), {
      onUpgrade(request, socket, head) {
        seen.resolve(request);
        socket.end(`HTTP/1.1 101 Switching Protocols\r\n\r\n${head.toString()}`);
      },
    });
    const socket = openRaw(server, server.client(server.pki.admin));

    socket.write(`${UPGRADE}first bytes`);

    expect(await readUntilClosed(socket)).toMatch(/^HTTP\/1.1 101 [^]*first bytes$/);
    const { method, target, headers, peer, signal } = await seen.promise;
    expect([method, target, headers.get("upgrade"), peer?.user]).toEqual([
      "GET",
      "/exec",
      "websocket",
      "kubernetes-admin",
    ]);
    if (!signal.aborted) await once(signal, "abort");
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
