/** The HTTP transport with sockets, certificates, tokens and broken responses. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { ConfigMap } from "../../src/api/generated/types/core-v1.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { createClient } from "../../src/client/api-client.ts";
import { connect } from "../../src/client/connection.ts";
import type { EndpointUser, ExecPlugin } from "../../src/client/endpoint.ts";
import { httpTransport } from "../../src/client/http-transport.ts";
import type { HttpTransportOptions } from "../../src/client/http-transport.ts";
import type { Transport } from "../../src/client/transport.ts";
import { kubeconfigText } from "../../src/cluster/kubeconfig/kubeconfig.ts";
import type { HttpHandler, HttpRequest } from "../../src/server/request/http.ts";
import { answer, makeForeignPki, startServer } from "../../src/server/transport/fixture.ts";
import type { TestServer } from "../../src/server/transport/fixture.ts";
import { TestApi } from "../api-harness.ts";

const loop = createRealLoop({ name: "test" });
const GET = { method: "GET", path: "/api/v1/configmaps" } as const;
const WATCH = { ...GET, query: { watch: "true" } } as const;

function transportTo(server: TestServer, options: Partial<HttpTransportOptions> = {}): Transport {
  const { listener, pki } = server;
  return closed(
    httpTransport({
      loop,
      server: `https://127.0.0.1:${String(listener.port)}`,
      ca: { text: pki.ca.cert },
      ...options,
    }),
  );
}

function closed(transport: Transport): Transport {
  onTestFinished(() => transport.close());
  return transport;
}

interface PlainServer {
  readonly transport: Transport;
  /** All connections so far. */
  readonly sockets: readonly Socket[];
}

/** A server without TLS whose faults the test chooses. */
async function plainServer(
  listener: RequestListener,
  options: Partial<HttpTransportOptions> = {},
): Promise<PlainServer> {
  const server = createServer(listener);
  const sockets: Socket[] = [];
  server.on("connection", (socket) => sockets.push(socket));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const transport = closed(httpTransport({ loop, server: `http://127.0.0.1:${port}`, ...options }));
  return { transport, sockets };
}

function json(response: ServerResponse, value: unknown, code = 200): void {
  response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(value));
}

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), "setpoint-client-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}

async function collected<T>(items: AsyncIterable<T>): Promise<{ seen: T[]; error: unknown }> {
  const seen: T[] = [];
  try {
    for await (const item of items) seen.push(item);
    return { seen, error: undefined };
  } catch (error) {
    return { seen, error };
  }
}

describe("TLS", () => {
  const whoami: HttpHandler = async ({ peer }) =>
    answer(JSON.stringify(peer ?? {}), { headers: new Map([["content-type", "application/json"]]) });

  test("a client's certificate says who it is", async () => {
    const server = await startServer(whoami);
    const { admin } = server.pki;
    const user = { certificate: { text: admin.cert }, key: { text: admin.key } };

    const named = await transportTo(server, { user }).send(GET);
    const unnamed = await transportTo(server).send(GET);

    expect(named.value).toMatchObject({ user: "kubernetes-admin" });
    expect(unnamed.value).toEqual({});
  });

  test("a server with an untrusted certificate is refused, unless verification is off", async () => {
    const server = await startServer(whoami);
    const foreign = await makeForeignPki();

    const ca = { text: foreign.ca.cert };

    await expect(transportTo(server, { ca }).send(GET)).rejects.toMatchObject({
      reason: "ServiceUnavailable",
      cause: expect.any(Error) as Error,
    });
    expect((await transportTo(server, { ca, verification: "none" }).send(GET)).code).toBe(200);
  });

  test("a server is known by its own certificate", async () => {
    const server = await startServer(whoami);

    const known = await transportTo(server, { ca: { text: server.pki.server.cert } }).send(GET);

    expect(known.code).toBe(200);
  });

  test("the name on the certificate may be another than the host's", async () => {
    const server = await startServer(whoami);

    const known = await transportTo(server, { tlsServerName: "kubernetes.default.svc" }).send(GET);

    expect(known.code).toBe(200);
    await expect(transportTo(server, { tlsServerName: "example.com" }).send(GET)).rejects.toMatchObject({
      reason: "ServiceUnavailable",
    });
  });

  test("the kubeconfig of a cluster is all that is needed", async () => {
    const api = await TestApi.start();
    onTestFinished(() => api[Symbol.asyncDispose]());
    const { listener, pki } = await startServer(api.handler);
    const server = `https://127.0.0.1:${String(listener.port)}`;
    const text = kubeconfigText({ server, ca: pki.ca.cert, user: pki.admin });

    await using connection = await connect({ text });
    const created = await connection.client(ConfigMap).create({ metadata: { name: "a" } });

    expect([connection.namespace, created.metadata.namespace]).toEqual(["default", "default"]);
  });
});

describe("tokens", () => {
  /** Accepts one token, which may change. */
  function guarded(good: () => string, seen: string[] = []): RequestListener {
    return (request, response) => {
      const token = (request.headers.authorization ?? "").replace("Bearer ", "");
      seen.push(token);
      if (token === good()) json(response, { kind: "ConfigMapList" });
      else json(response, { kind: "Status", reason: "Unauthorized", code: 401 }, 401);
    };
  }

  test("a file is read again when its token is refused", async () => {
    const file = join(folder(), "token");
    writeFileSync(file, "one\n");
    let good = "one";
    const seen: string[] = [];
    const { transport } = await plainServer(
      guarded(() => good, seen),
      { user: { token: { file } } },
    );

    await transport.send(GET);
    good = "two";
    writeFileSync(file, "two\n");
    const { code } = await transport.send(GET);
    await transport.send(GET);

    expect(code).toBe(200);
    expect(seen).toEqual(["one", "one", "two", "two"]);
  });

  test("a refusal stands when there is nothing else to show", async () => {
    const seen: string[] = [];
    const { transport } = await plainServer(
      guarded(() => "x", seen),
      { user: { token: { text: "y" } } },
    );

    const { code, value } = await transport.send(GET);
    const watch = await transport.watch(WATCH);

    expect([code, watch.code]).toEqual([401, 401]);
    expect([value, watch.refusal]).toMatchObject([{ reason: "Unauthorized" }, { reason: "Unauthorized" }]);
    expect(seen).toHaveLength(2);
  });

  test("a file that is not there is named", async () => {
    const { transport } = await plainServer(
      guarded(() => "x"),
      { user: { token: { file: "/none/token" } } },
    );

    await expect(transport.send(GET)).rejects.toMatchObject({
      reason: "Unauthorized",
      message: expect.stringContaining("the bearer token cannot be read from /none/token") as string,
    });
  });

  test("a client can impersonate another user", async () => {
    let headers: IncomingMessage["headers"] = {};
    const impersonation = { user: "jane", groups: ["a", "b"], uid: "7", extra: { "example.com/x": ["1"] } };
    const { transport } = await plainServer(
      (request, response) => {
        ({ headers } = request);
        json(response, {});
      },
      { user: { impersonation } },
    );

    await transport.send(GET);

    expect(headers).toMatchObject({
      "impersonate-user": "jane",
      "impersonate-group": "a, b",
      "impersonate-uid": "7",
      "impersonate-extra-example.com%2fx": "1",
    });
  });

  /** A credential plugin that answers with the content of a file and logs each call as a line. */
  function plugin(
    status: object,
    given: Partial<ExecPlugin> = {},
  ): { readonly user: EndpointUser; readonly runs: () => string[]; readonly set: (status: object) => void } {
    const dir = folder();
    const [answerFile, runsFile] = [join(dir, "answer"), join(dir, "runs")];
    const apiVersion = "client.authentication.k8s.io/v1";
    const set = (next: object): void =>
      writeFileSync(answerFile, JSON.stringify({ apiVersion, kind: "ExecCredential", status: next }));
    set(status);
    writeFileSync(runsFile, "");
    const script = `const fs = require("node:fs");
      fs.appendFileSync(process.env.RUNS, process.env.KUBERNETES_EXEC_INFO + "\\n");
      process.stdout.write(fs.readFileSync(process.env.ANSWER));`;
    const exec: ExecPlugin = {
      apiVersion,
      command: process.execPath,
      args: ["-e", script],
      env: { RUNS: runsFile, ANSWER: answerFile },
      provideClusterInfo: false,
      ...given,
    };
    const runs = (): string[] => readFileSync(runsFile, "utf8").split("\n").slice(0, -1);
    return { user: { exec }, runs, set };
  }

  test("a plugin is asked once for all who wait, and again when its token is refused", async () => {
    let good = "one";
    const { user, runs, set } = plugin({ token: "one" });
    const { transport } = await plainServer(
      guarded(() => good),
      { user },
    );
    const three = (): Promise<readonly number[]> =>
      Promise.all([1, 2, 3].map(async () => (await transport.send(GET)).code));

    const first = await three();
    const asked = runs().length;
    good = "two";
    set({ token: "two" });
    const second = await three();

    expect([first, second]).toEqual([
      [200, 200, 200],
      [200, 200, 200],
    ]);
    expect([asked, runs().length]).toEqual([1, 2]);
    expect(JSON.parse(runs()[0] ?? "")).toMatchObject({
      kind: "ExecCredential",
      spec: { interactive: false },
    });
  });

  test("a plugin whose token has expired is asked again", async () => {
    const { user, runs } = plugin({ token: "one", expirationTimestamp: "2020-01-01T00:00:00Z" });
    const { transport } = await plainServer(
      guarded(() => "one"),
      { user },
    );

    await transport.send(GET);
    await transport.send(GET);

    expect(runs()).toHaveLength(2);
  });

  test("a plugin may answer with a certificate", async () => {
    const server = await startServer(async ({ peer }) => answer(peer?.user ?? "nobody"));
    const { cert, key } = server.pki.admin;
    const { user } = plugin({ clientCertificateData: cert, clientKeyData: key });

    const { value } = await transportTo(server, { user }).send(GET);

    expect(value).not.toBe("nobody");
  });

  test.each<[string, Partial<ExecPlugin>, string]>([
    [
      "is not there",
      { command: "no-such-program", installHint: "get it at x" },
      "correct users[].user.exec.command; get it at x",
    ],
    ["fails", { args: ["-e", "console.error('log in first'); process.exit(1)"] }, "log in first"],
    ["talks nonsense", { args: ["-e", "console.log('hello')"] }, "not a JSON object"],
  ])("a plugin that %s is named with what to do", async (_, given, message) => {
    const { user } = plugin({ token: "one" }, given);
    const { transport } = await plainServer(
      guarded(() => "one"),
      { user },
    );

    await expect(transport.send(GET)).rejects.toMatchObject({
      reason: "Unauthorized",
      message: expect.stringContaining(message) as string,
    });
  });

  test("an abort does not wait for the plugin", async () => {
    const { user } = plugin({ token: "one" }, { args: ["-e", "setTimeout(() => {}, 1000)"] });
    const { transport } = await plainServer(
      guarded(() => "one"),
      { user },
    );
    const ending = new AbortController();

    const sending = transport.send({ ...GET, signal: ending.signal });
    ending.abort(new Error("enough"));

    await expect(sending).rejects.toThrow("enough");
  });

  test("a plugin ends with the transport", async () => {
    const { user, runs } = plugin({ token: "one" });
    const endless = `require("node:fs").appendFileSync(process.env.RUNS, process.pid + "\\n"); setInterval(() => {}, 1000)`;
    const exec = user.exec && { ...user.exec, args: ["-e", endless] };
    const { transport } = await plainServer(
      guarded(() => "one"),
      { user: { ...(exec && { exec }) } },
    );
    const sending = transport.send(GET).catch((error: unknown) => error);
    await expect.poll(runs).toHaveLength(1);

    await transport.close();

    expect(await sending).toMatchObject({ message: "the client was closed" });
    await expect.poll(() => isRunning(Number(runs()[0]))).toBe(false);
  });

  function isRunning(pid: number): boolean {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  }
});

describe("answers", () => {
  test("long lists come compressed", async () => {
    const api = await TestApi.start();
    onTestFinished(() => api[Symbol.asyncDispose]());
    const encodings: (string | undefined)[] = [];
    const server = await startServer(async (request: HttpRequest) => {
      const response = await api.handler(request);
      if (request.method === "GET") encodings.push(response.headers.get("content-encoding"));
      return response;
    });
    const { admin } = server.pki;
    const user = { certificate: { text: admin.cert }, key: { text: admin.key } };
    const client = createClient(transportTo(server, { user }), { loop });
    const data = { k: "ä".repeat(100_000) };
    for (const name of ["a", "b", "c"]) await client(ConfigMap).create({ metadata: { name }, data });

    const { items } = await client(ConfigMap).list();

    expect(encodings).toEqual(["gzip"]);
    expect(items.map((item) => item.data)).toEqual([data, data, data]);
  });

  test("more than the bound is refused, also when it was packed", async () => {
    const text = JSON.stringify({ text: "x".repeat(100_000) });
    const { transport } = await plainServer(
      (request, response) => {
        response.setHeader("content-type", "application/json");
        if (request.url?.endsWith("packed") !== true) return response.end(text);
        return response.setHeader("content-encoding", "gzip").end(gzipSync(text));
      },
      { maxAnswerBytes: 50_000 },
    );

    for (const path of ["/plain", "/packed"]) {
      await expect(transport.send({ method: "GET", path })).rejects.toMatchObject({
        reason: "ServiceUnavailable",
        message: expect.stringContaining("more than 50000 bytes") as string,
      });
    }
  });

  test.each<[string, RequestListener]>([
    ["is cut off", (_, response) => void response.write("half", () => response.socket?.destroy())],
    ["never comes", (request) => void request.socket.destroy()],
    [
      "is shorter than announced",
      (_, response) => void response.setHeader("content-length", 9).write("x", () => response.socket?.end()),
    ],
    ["is no JSON", (_, response) => void response.setHeader("content-type", "application/json").end("{")],
    ["is no gzip", (_, response) => void response.setHeader("content-encoding", "gzip").end("x")],
  ])("one that %s is none", async (_, listener) => {
    const { transport } = await plainServer(listener);

    await expect(transport.send(GET)).rejects.toMatchObject({
      reason: "ServiceUnavailable",
      cause: expect.any(Error) as Error,
    });
  });

  test("what is no JSON is text, and nothing is nothing", async () => {
    const { transport } = await plainServer((request, response) => {
      if (request.url === "/healthz") response.end("ok");
      else response.writeHead(204).end();
    });

    expect(await transport.send({ method: "GET", path: "/healthz" })).toMatchObject({
      code: 200,
      value: "ok",
    });
    expect(await transport.send({ method: "GET", path: "/none" })).toMatchObject({
      code: 204,
      value: undefined,
    });
  });

  test("warnings and times to come back are told", async () => {
    const { transport } = await plainServer((_, response) => {
      response.setHeader("warning", ['299 - "old \\"thing\\""', '299 - "two"']).setHeader("retry-after", "7");
      json(response, {}, 429);
    });

    expect(await transport.send(GET)).toMatchObject({
      code: 429,
      retryAfterSeconds: 7,
      warnings: ['old "thing"', "two"],
    });
  });

  test("redirects are not followed, and are no answer", async () => {
    let asked = 0;
    const { transport } = await plainServer((_, response) => {
      asked++;
      response.writeHead(302, { location: "/elsewhere" }).end();
    });

    await expect(createClient(transport, { loop })(ConfigMap).get({ name: "a" })).rejects.toMatchObject({
      reason: "InternalError",
    });
    expect(asked).toBe(1);
  });

  test("a server may lie below a path", async () => {
    const paths: (string | undefined)[] = [];
    const { transport, sockets } = await plainServer((request, response) => {
      paths.push(request.url);
      json(response, {});
    });
    await transport.send(GET);
    const { localPort = 0 } = sockets[0] ?? {};
    const below = closed(httpTransport({ loop, server: `http://127.0.0.1:${localPort}/clusters/a/` }));

    await below.send({ ...GET, query: { labelSelector: "a in (b,c)", x: ["1", "2"] } });

    expect(paths[1]).toBe("/clusters/a/api/v1/configmaps?labelSelector=a+in+%28b%2Cc%29&x=1&x=2");
  });

  test("one that takes too long is not waited for", async () => {
    const { transport } = await plainServer(() => undefined, { timeoutMs: 30 });

    for (const call of [() => transport.send(GET), () => transport.watch(WATCH)]) {
      await expect(call()).rejects.toMatchObject({
        reason: "ServiceUnavailable",
        message: expect.stringContaining("within 0.03 s") as string,
      });
    }
  });
});

describe("streams", () => {
  const line = (name: string): string => `${JSON.stringify({ type: "ADDED", object: { name } })}\n`;

  test("a watch that is cut within an event gives the whole ones, and breaks", async () => {
    let cut: () => void = () => undefined;
    const { transport } = await plainServer((_, response) => {
      cut = () => void response.socket?.destroy();
      response.write(line("a") + line("b") + line("c").slice(0, -5));
    });
    const iterator = (await transport.watch(WATCH)).items[Symbol.asyncIterator]();

    const first = await iterator.next();
    cut();

    expect(first.value).toMatchObject([{ object: { name: "a" } }, { object: { name: "b" } }]);
    await expect(iterator.next()).rejects.toMatchObject({ reason: "ServiceUnavailable" });
    expect(await iterator.next()).toMatchObject({ done: true });
  });

  test("an end between events is an end, an end within one is none", async () => {
    const { transport } = await plainServer((request, response) => {
      response.end(request.url?.includes("half") === true ? line("a").slice(0, -1) : line("a"));
    });

    const whole = await collected((await transport.watch(WATCH)).items);
    const half = await collected((await transport.watch({ ...WATCH, path: "/half" })).items);

    expect([whole.seen.flat().length, whole.error]).toEqual([1, undefined]);
    expect([half.seen.flat().length, half.error]).toMatchObject([0, { reason: "ServiceUnavailable" }]);
  });

  test("events come as they are sent, and may last longer than a request", async () => {
    let send: (text: string) => void = () => undefined;
    const { transport } = await plainServer(
      (request, response) => {
        if (request.url?.includes("watch") !== true) return;
        send = (text) => void response.write(text);
        response.flushHeaders();
      },
      { timeoutMs: 30 },
    );
    const { items } = await transport.watch(WATCH);
    const iterator = items[Symbol.asyncIterator]();

    send(line("a"));
    const first = await iterator.next();
    await expect(transport.send(GET)).rejects.toMatchObject({ reason: "ServiceUnavailable" });
    send(line("b"));
    const second = await iterator.next();

    expect([first.value, second.value]).toMatchObject([
      [{ object: { name: "a" } }],
      [{ object: { name: "b" } }],
    ]);
  });

  test.each<[string, (iterator: AsyncIterator<unknown>, ending: AbortController) => unknown]>([
    ["left", (iterator) => iterator.return?.()],
    ["aborted", (_, ending) => ending.abort(new Error("enough"))],
  ])("the connection of one that is %s is closed at once", async (_, leave) => {
    let gone: Promise<unknown> = Promise.resolve();
    const { transport } = await plainServer((request, response) => {
      gone = new Promise((resolve) => {
        request.socket.once("close", resolve);
      });
      response.flushHeaders();
    });
    const ending = new AbortController();
    const { items } = await transport.watch({ ...WATCH, signal: ending.signal });
    const iterator = items[Symbol.asyncIterator]();

    const waiting = iterator.next().catch((error: unknown) => error);
    await leave(iterator, ending);
    await gone;

    expect([{ done: true, value: undefined }, new Error("enough")]).toContainEqual(await waiting);
  });

  test("logs come byte by byte, and a refusal is told", async () => {
    const { transport } = await plainServer((request, response) => {
      if (request.url === "/none")
        return json(response, { kind: "Status", reason: "NotFound", message: "no such pod" }, 404);
      return response.end(Buffer.from([0, 255, 10]));
    });

    const log = await transport.read({ method: "GET", path: "/log" });
    const refused = await transport.read({ method: "GET", path: "/none" });

    expect(Buffer.concat((await collected(log.items)).seen)).toEqual(Buffer.from([0, 255, 10]));
    expect([refused.code, refused.refusal]).toMatchObject([
      404,
      { reason: "NotFound", message: "no such pod" },
    ]);
  });
});

describe("sockets", () => {
  test("are used again, and streams have their own", async () => {
    const { transport, sockets } = await plainServer((request, response) => {
      if (request.url?.includes("watch") === true) response.flushHeaders();
      else json(response, {});
    });

    const { items } = await transport.watch(WATCH);
    for (let at = 0; at < 5; at++) await transport.send(GET);
    await items[Symbol.asyncIterator]().return?.();

    expect(sockets).toHaveLength(2);
  });

  test("what is under way ends when the transport is closed, and nothing begins after", async () => {
    const { transport, sockets } = await plainServer((request, response) => {
      if (request.url?.includes("watch") === true) response.flushHeaders();
    });
    const watch = await transport.watch(WATCH);
    const calls = [
      transport.send(GET),
      collected(watch.items).then(({ error }) => Promise.reject(error as Error)),
    ];
    const ends = sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve)));

    await transport.close();

    for (const call of [...calls, transport.send(GET)]) {
      await expect(call).rejects.toMatchObject({
        reason: "ServiceUnavailable",
        message: "the client was closed",
      });
    }
    await Promise.all(ends);
  });

  test("an abort closes the one that waits for an answer", async () => {
    let gone: Promise<unknown> = Promise.resolve();
    const ending = new AbortController();
    const { transport } = await plainServer((request) => {
      gone = new Promise((resolve) => {
        request.socket.once("close", resolve);
      });
      ending.abort(new Error("enough"));
    });

    await expect(transport.send({ ...GET, signal: ending.signal })).rejects.toThrow("enough");

    await gone;
  });

  test("a refused connection is ServiceUnavailable", async () => {
    const transport = closed(httpTransport({ loop, server: "http://127.0.0.1:1" }));

    await expect(transport.send(GET)).rejects.toMatchObject({
      reason: "ServiceUnavailable",
      message: expect.stringContaining("no response from http://127.0.0.1:1: ") as string,
    });
  });

  test.each(["", "host:6443", "ftp://host"])("%j is rejected as a server", (server) => {
    expect(() => httpTransport({ loop, server })).toThrow(
      "the server must be a URL such as https://127.0.0.1:6443",
    );
  });
});
