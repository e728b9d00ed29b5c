import { once } from "node:events";
import { describe, expect, test } from "vitest";
import type { HttpRequest, HttpResponse } from "../request/http.ts";
import {
  answer,
  makeForeignPki,
  openRaw,
  openSession,
  pending,
  PROTOCOLS,
  readAll,
  readUntilClosed,
  sendHttp2,
  startServer,
  type TestServer,
} from "./fixture.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
/** Errors of both clients for a response without its end. */
const BROKEN_OFF = /aborted|INTERNAL_ERROR|Premature close/;

const whoami = async ({ peer }: HttpRequest): Promise<HttpResponse> =>
  answer(JSON.stringify(peer ?? "nobody"));

describe.each(PROTOCOLS)("an exchange over %s", (_protocol, send) => {
  test("carries method, target, headers and body, and the answer back", async () => {
    const server = await startServer(async (request) => {
      const body = Buffer.from(await request.readBody(100)).toString();
      const { method, target, headers } = request;
      const seen = { method, target, body, sent: headers.get("x-sent"), hasHost: headers.has("host") };
      return answer(JSON.stringify(seen), { status: 201, headers: new Map([["x-told", "yes"]]) });
    });

    const got = await send(server, {
      method: "PUT",
      path: "/api/v1/pods?limit=5&a=%2F",
      headers: { "X-Sent": "one" },
      body: "hello",
    });

    expect([got.status, got.headers["x-told"]]).toEqual([201, "yes"]);
    expect(JSON.parse(await readAll(got.body))).toEqual({
      method: "PUT",
      target: "/api/v1/pods?limit=5&a=%2F",
      body: "hello",
      sent: "one",
      hasHost: true,
    });
  });

  test("gives small answers their length, and HEAD the same one without a body", async () => {
    const server = await startServer(async () => answer("12345"));

    const [got, head] = await Promise.all([send(server), send(server, { method: "HEAD" })]);

    expect([got.headers["content-length"], await readAll(got.body)]).toEqual(["5", "12345"]);
    expect([head.headers["content-length"], await readAll(head.body)]).toEqual(["5", ""]);
  });

  test.each([
    ["few bytes", Buffer.from("{}")],
    ["more bytes", Buffer.alloc(30_000, "x")],
  ])("sends the newline after %s, counted in its length", async (_, body) => {
    const server = await startServer(async () => ({ ...answer(""), body, isLine: true }));
    const length = String(body.length + 1);

    const [got, head] = await Promise.all([send(server), send(server, { method: "HEAD" })]);

    expect([got.headers["content-length"], await readAll(got.body)]).toEqual([
      length,
      `${body.toString()}\n`,
    ]);
    expect([head.headers["content-length"], await readAll(head.body)]).toEqual([length, ""]);
  });

  test("sends the newline after a body in pieces", async () => {
    const body = Buffer.alloc(300_000, "x");
    const server = await startServer(async () => ({ ...answer(""), body, isLine: true }));

    const got = await send(server);

    expect(await readAll(got.body)).toBe(`${body.toString()}\n`);
  });

  test.each([204, 304])("sends no body with status %i", async (status) => {
    const server = await startServer(async () => answer("", { status }));

    const got = await send(server);

    expect([got.status, await readAll(got.body)]).toEqual([status, ""]);
  });

  test("stops the stream of a response to HEAD", async () => {
    const source = endlessSource();
    const server = await startServer(async () => answer(source.pieces));

    const got = await send(server, { method: "HEAD" });

    expect(await readAll(got.body)).toBe("");
    await source.ended;
  });

  test.each([64 * KIB, 64 * KIB + 1, 3 * MIB])("delivers a body of %i bytes unchanged", async (size) => {
    const body = Buffer.alloc(size, "0123456789abcdef");
    const server = await startServer(async () => answer(body));

    const got = await send(server);

    expect(got.headers["content-length"]).toBe(String(size));
    expect((await readAll(got.body)) === body.toString()).toBe(true);
  });

  test("delivers each piece of a stream at once", async () => {
    const [first, second] = [pending(), pending()];
    const server = await startServer(async () => answer(pieces()));
    async function* pieces(): AsyncGenerator<Uint8Array> {
      await first.promise;
      yield Buffer.from("first");
      await second.promise;
      yield Buffer.from("second");
    }

    const got = await send(server);
    first.resolve();
    const [piece] = (await once(got.body, "data")) as [Uint8Array];
    second.resolve();

    expect(Buffer.from(piece).toString()).toBe("first");
    expect(await readAll(got.body)).toBe("second");
  });

  test("pulls no more of a stream than the client reads", async () => {
    const source = countedSource(24, MIB);
    const server = await startServer(async ({ target }) =>
      answer(target === "/big" ? source.pieces : "small"),
    );
    const got = await send(server, { path: "/big" });
    await once(got.body, "readable");
    for (let i = 0; i < 20; i++) await readAll((await send(server)).body);

    const askedWhileStalled = source.count();
    const text = await readAll(got.body);

    // Both ends of a loopback connection buffer up to 10 MiB.
    expect(askedWhileStalled).toBeLessThan(16);
    expect(text).toHaveLength(24 * MIB);
  });

  test("ends the handler's work when the client leaves", async () => {
    const source = endlessSource();
    const seen = pending<HttpRequest>();
    const server = await startServer(async (request) => {
      seen.resolve(request);
      return answer(source.pieces);
    });
    const got = await send(server);
    const { signal } = await seen.promise;
    const aborted = once(signal, "abort");

    got.leave();

    await Promise.all([aborted, source.ended]);
    expect(server.logged).toEqual([]);
  });

  test("cuts a stream when its source fails, so that it does not look complete", async () => {
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("begun");
      throw new Error("disk gone");
    }
    const server = await startServer(async () => answer(failing()));

    const got = await send(server);

    await expect(readAll(got.body)).rejects.toThrow(BROKEN_OFF);
    expect(server.logged).toEqual(["a response was cut off: Error: disk gone"]);
  });

  test("does not report a stream that its own end cuts", async () => {
    async function* followed(signal: AbortSignal): AsyncGenerator<Uint8Array> {
      yield Buffer.from("line");
      await once(signal, "abort");
      throw new Error("aborted");
    }
    const server = await startServer(async ({ signal }) => answer(followed(signal)));
    const got = await send(server);
    await once(got.body, "readable");

    const closing = server.listener.close({ graceMs: 1000 });

    await expect(readAll(got.body)).rejects.toThrow(BROKEN_OFF);
    await closing;
    expect(server.logged).toEqual([]);
  });

  test("cuts a stream when its source fails after the client has read everything before", async () => {
    const taken = pending();
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("begun");
      await taken.promise;
      throw new Error("disk gone");
    }
    const server = await startServer(async () => answer(failing()));
    const got = await send(server);
    await once(got.body, "readable");
    expect(String(got.body.read())).toBe("begun");

    taken.resolve();

    await expect(readAll(got.body)).rejects.toThrow(BROKEN_OFF);
  });

  test("cuts a client that reads nothing for too long", async () => {
    const source = endlessSource();
    const server = await startServer(async () => answer(source.pieces), { limits: { stallTimeoutMs: 50 } });

    const got = await send(server);

    await source.ended;
    await expect(readAll(got.body)).rejects.toThrow(BROKEN_OFF);
  });

  test("sends the error of a handler that throws against its contract", async () => {
    const server = await startServer(() => Promise.reject(new Error("bug")));

    const got = await send(server);

    expect(got.status).toBe(500);
    expect(JSON.parse(await readAll(got.body))).toMatchObject({ kind: "Status", reason: "InternalError" });
    expect(server.logged).toEqual(["a request handler failed: Error: bug"]);
  });
});

describe("a client that disconnects before its response", () => {
  const leaving: readonly (readonly [string, (server: TestServer) => () => void])[] = [
    [
      "HTTP/1.1",
      (server) => {
        const socket = openRaw(server);
        socket.write("GET /first HTTP/1.1\r\nhost: a\r\n\r\n");
        return () => void socket.destroy();
      },
    ],
    [
      "HTTP/2",
      (server) => {
        const stream = openSession(server).request({ ":path": "/first" });
        stream.on("error", () => undefined);
        return () => stream.close(8);
      },
    ],
  ];

  test.each(leaving)("over %s aborts the request and has the answer discarded", async (_protocol, enter) => {
    const source = endlessSource();
    const seen = pending();
    const server = await startServer(async ({ signal }) => {
      seen.resolve();
      if (!signal.aborted) await once(signal, "abort");
      return answer(source.pieces);
    });
    const leave = enter(server);
    await seen.promise;

    leave();

    await source.ended;
  });
});

describe.each(PROTOCOLS)("a body over %s", (_protocol, send) => {
  const echo = async (request: HttpRequest): Promise<HttpResponse> => {
    try {
      return answer(String((await request.readBody(MIB)).byteLength));
    } catch (error) {
      const { code = 500, reason = "" } = error as { code?: number; reason?: string };
      return answer(reason, { status: code });
    }
  };

  test.each([0, 1, 100 * KIB, MIB])("of %i bytes is read whole", async (size) => {
    const server = await startServer(echo);

    const got = await send(server, { method: "POST", body: Buffer.alloc(size) });

    expect(await readAll(got.body)).toBe(String(size));
  });

  test("is refused unread when its announced length is too long", async () => {
    const server = await startServer(echo);

    const got = await send(server, {
      method: "POST",
      headers: { "content-length": String(MIB + 1) },
      body: (out) => out.write("x"),
    });

    expect([got.status, await readAll(got.body)]).toEqual([413, "RequestEntityTooLarge"]);
  });

  test("is refused once it is too long, and the client can read the response", async () => {
    const server = await startServer(echo);

    const got = await send(server, {
      method: "POST",
      body: (out) => {
        out.write(Buffer.alloc(MIB));
        out.end(Buffer.alloc(MIB));
      },
    });

    expect([got.status, await readAll(got.body)]).toEqual([413, "RequestEntityTooLarge"]);
  });

  test("does not delay the response when unread", async () => {
    const server = await startServer(async () => answer("no", { status: 401 }));

    const got = await send(server, { method: "POST", body: Buffer.alloc(2 * MIB) });

    expect([got.status, await readAll(got.body)]).toEqual([401, "no"]);
  });

  test("is refused when the budget is used up, and releases its bytes", async () => {
    const server = await startServer(echo, { limits: { maxReceivingBytes: 10 * KIB } });

    const refused = await send(server, { method: "POST", body: Buffer.alloc(11 * KIB) });
    const taken = await send(server, { method: "POST", body: Buffer.alloc(10 * KIB) });

    expect([refused.status, await readAll(refused.body)]).toEqual([429, "TooManyRequests"]);
    expect(taken.status).toBe(200);
  });

  test("times out", async () => {
    const server = await startServer(echo, { limits: { bodyTimeoutMs: 50 } });

    const got = await send(server, { method: "POST", body: (out) => out.write("x") });

    expect([got.status, await readAll(got.body)]).toEqual([504, "Timeout"]);
  });

  test("is invited only when the handler reads it (100-continue)", async () => {
    const server = await startServer(async (request) =>
      request.target === "/read" ? echo(request) : answer("no", { status: 403 }),
    );
    const headers = { expect: "100-continue", "content-length": "5" };

    const refused = await send(server, { method: "POST", headers, body: () => undefined });
    const read = await send(server, {
      method: "POST",
      path: "/read",
      headers,
      body: (out) => out.once("continue", () => out.end("hello")),
    });

    expect(refused.status).toBe(403);
    expect(await readAll(read.body)).toBe("5");
  });
});

describe("a body that breaks off", () => {
  test.each([
    ["announced", "content-length: 10\r\n\r\n12345"],
    ["chunked", "transfer-encoding: chunked\r\n\r\n5\r\n12345\r\n"],
  ])("over HTTP/1.1, %s, is refused", async (_kind, rest) => {
    const outcome = pending<unknown>();
    const server = await startServer((request) => {
      const reading = request.readBody(100);
      reading.then(outcome.resolve, outcome.resolve);
      return reading.then(() => answer(""));
    });
    const socket = openRaw(server);

    socket.end(`POST / HTTP/1.1\r\nhost: a\r\n${rest}`);

    expect(await outcome.promise).toMatchObject({ reason: "BadRequest" });
  });

  test.each([0, 8])("over HTTP/2 with code %i is refused", async (code) => {
    const outcome = pending<unknown>();
    const begun = pending();
    const server = await startServer((request) => {
      const reading = request.readBody(100);
      reading.then(outcome.resolve, outcome.resolve);
      begun.resolve();
      return reading.then(() => answer(""));
    });
    const stream = openSession(server).request({ ":method": "POST", ":path": "/" });
    stream.on("error", () => undefined);
    stream.write("12345");
    await begun.promise;

    // Not close(), which would end the body first.
    stream.destroy(code === 0 ? undefined : new Error("gone"));

    expect(await outcome.promise).toMatchObject({ reason: "BadRequest" });
  });
});

describe("the identity of a client", () => {
  test.each(PROTOCOLS)("comes from its certificate over %s", async (_protocol, send) => {
    const server = await startServer(whoami);

    const got = await send(server, { identity: server.pki.admin });

    expect(JSON.parse(await readAll(got.body))).toMatchObject({
      user: "kubernetes-admin",
      groups: ["system:masters", "kubeadm:cluster-admins"],
    });
  });

  test.each(PROTOCOLS)(
    "is undefined over %s without a certificate, a stranger with one that does not verify",
    async (_protocol, send) => {
      const server = await startServer(whoami);
      const foreign = await makeForeignPki();
      const strangers = [undefined, foreign.admin, server.pki.frontProxyClient, server.pki.server];

      const answers = await Promise.all(
        strangers.map(async (identity) =>
          readAll((await send(server, identity === undefined ? {} : { identity })).body),
        ),
      );

      const stranger = JSON.stringify({ user: "", groups: [], role: "stranger" });
      expect(answers).toEqual(['"nobody"', stranger, stranger, stranger]);
    },
  );

  test("requires TLS 1.2 or later", async () => {
    const server = await startServer(whoami);
    const socket = openRaw(server, {
      minVersion: "TLSv1.1",
      maxVersion: "TLSv1.1",
      ciphers: "ALL@SECLEVEL=0",
    });

    const [error] = (await once(socket, "error")) as [Error];

    expect(error.message).toMatch(/protocol|alert/);
  });
});

describe("renewal", () => {
  test("serves the new certificate, and trusts clients of the new CA only", async () => {
    const server = await startServer(whoami);
    const next = await makeForeignPki();
    server.listener.renew({ ...next.server, ca: next.ca.cert });

    const visit = async (identity: typeof next.admin): Promise<string> => {
      const socket = openRaw(server, { ca: next.ca.cert, ...identity });
      socket.write("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
      return readUntilClosed(socket);
    };
    expect(await visit(next.admin)).toContain("kubernetes-admin");
    expect(await visit(server.pki.admin)).toContain("stranger");
  });

  test("is refused with unusable certificates, and changes nothing", async () => {
    const server = await startServer(whoami);
    const next = await makeForeignPki();

    expect(() =>
      server.listener.renew({ key: next.server.key, cert: server.pki.server.cert, ca: next.ca.cert }),
    ).toThrow(/key values mismatch/);

    const socket = openRaw(server, { ...server.pki.admin });
    socket.write("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    expect(await readUntilClosed(socket)).toContain("kubernetes-admin");
  });
});

describe("close", () => {
  test("sends GOAWAY, aborts watches through their signal and waits for the responses", async () => {
    const server = await startServer(async ({ signal }) => answer(watch(signal)));
    async function* watch(signal: AbortSignal): AsyncGenerator<Uint8Array> {
      yield Buffer.from("begun ");
      if (!signal.aborted) await once(signal, "abort");
      yield Buffer.from("ended");
    }
    const session = openSession(server);
    const goaway = once(session, "goaway");
    const answers = await Promise.all([sendHttp2(session), ...PROTOCOLS.map(([, send]) => send(server))]);

    const closing = server.listener.close({ graceMs: 60_000 });
    const texts = await Promise.all(answers.map(({ body }) => readAll(body)));

    expect(texts).toEqual(["begun ended", "begun ended", "begun ended"]);
    await Promise.all([goaway, closing]);
    await expect(sendHttp2(openSession(server))).rejects.toThrow("ECONNREFUSED");
  });

  test("ends idle connections at once", async () => {
    const server = await startServer(async () => answer("ok"));
    const socket = openRaw(server);
    const text = readUntilClosed(socket);
    socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    await once(socket, "data");
    await readAll((await sendHttp2(openSession(server))).body);

    await server.listener.close({ graceMs: 60_000 });

    expect(await text).toMatch(/^HTTP\/1.1 200 OK/);
  });

  test("cuts the remaining connections after the grace period", async () => {
    const source = endlessSource();
    const server = await startServer(async () => answer(source.pieces));
    const answers = await Promise.all(PROTOCOLS.map(([, send]) => send(server)));

    await server.listener.close({ graceMs: 20 });

    for (const { body } of answers) await expect(readAll(body)).rejects.toThrow(BROKEN_OFF);
  });
});

test("an address with too many connections gets no further one until it has closed another", async () => {
  const server = await startServer(async () => answer("ok"), { limits: { maxConnectionsPerAddress: 2 } });
  const [first, second] = [openRaw(server), openRaw(server)];
  await Promise.all([once(first, "secureConnect"), once(second, "secureConnect")]);

  const third = openRaw(server);
  await new Promise((resolve) => third.once("close", resolve));
  first.destroy();
  second.write("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");

  expect(await readUntilClosed(second)).toMatch(/ok$/);
  const fourth = openRaw(server);
  await once(fourth, "secureConnect");
});

test("a connection above the limit ends the oldest one whose client is not verified", async () => {
  const server = await startServer(async () => answer("ok"), { limits: { maxConnections: 3 } });
  const verified = openRaw(server, server.client(server.pki.admin));
  await once(verified, "secureConnect");
  const [first, second] = [openRaw(server), openRaw(server)];
  await Promise.all([once(first, "secureConnect"), once(second, "secureConnect")]);
  verified.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  await once(verified, "data");
  const ended = Promise.race([
    once(first, "close").then(() => "first"),
    once(second, "close").then(() => "second"),
    once(verified, "close").then(() => "verified"),
  ]);

  const third = openRaw(server);
  await once(third, "secureConnect");
  third.write("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");

  expect(await ended).not.toBe("verified");
  expect(await readUntilClosed(third)).toMatch(/ok$/);
});

/** Pieces of one size, with a count of the pulled ones. */
function countedSource(count: number, pieceBytes: number) {
  let asked = 0;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (; asked < count; asked++) yield Buffer.alloc(pieceBytes, "x");
  }
  return { pieces: pieces(), count: () => asked };
}

/** Ends only on `return`, also before its first piece, which a generator could not do. */
function endlessSource() {
  const ended = pending();
  const iterator: AsyncIterator<Uint8Array> = {
    next: () => Promise.resolve({ value: Buffer.alloc(64 * KIB) }),
    return: () => {
      ended.resolve();
      return Promise.resolve({ done: true, value: undefined });
    },
  };
  return { pieces: { [Symbol.asyncIterator]: () => iterator }, ended: ended.promise };
}
