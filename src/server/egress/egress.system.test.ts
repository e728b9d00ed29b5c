import { createServer as createHttpServer } from "node:http";
import { pipeline } from "node:stream";
import { createServer as createTlsServer } from "node:tls";
import type { TLSSocket } from "node:tls";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import { NO_POD_NETWORK } from "../../resources/node/pod-network.ts";
import { EgressError } from "./egress.ts";
import type { EgressRequest } from "./egress.ts";
import { listening, makeAuthority, openEgressFixture, serve } from "./fixture.ts";
import type { EgressFixture, TestAuthority } from "./fixture.ts";

let authority: TestAuthority;
let pair: { readonly key: string; readonly cert: string };

beforeAll(async () => {
  authority = await makeAuthority("test authority");
  pair = await authority.leaf(["localhost", "127.0.0.1", "hook.system.svc"]);
});

function requestTo(port: number, changes: Partial<EgressRequest> = {}): EgressRequest {
  return {
    target: { type: "url", url: `https://127.0.0.1:${port}/review` },
    trust: { ca: authority.cert },
    method: "POST",
    path: "?timeout=10s",
    headers: { "content-type": "application/json" },
    body: Buffer.from("{}"),
    timeoutMs: 10_000,
    replyBytesMax: 1000,
    signal: new AbortController().signal,
    ...changes,
  };
}

function* endless(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(4096);
}

async function failureOf(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(EgressError);
  return (error as EgressError).message;
}

describe("a call", () => {
  test("carries method, path, headers and body, and brings back the answer", async () => {
    const { port } = await serve(pair, (req, res) => {
      const pieces: Buffer[] = [];
      req.on("data", (piece: Buffer) => pieces.push(piece));
      req.on("end", () => {
        res.setHeader("x-seen", `${String(req.method)} ${String(req.url)} ${String(req.headers["host"])}`);
        res.end(Buffer.concat(pieces));
      });
    });

    const reply = await openEgressFixture().egress.call(requestTo(port, { body: Buffer.from('{"a":1}') }));

    expect(reply.status).toBe(200);
    expect(reply.headers.get("x-seen")).toBe(`POST /review?timeout=10s 127.0.0.1:${port}`);
    expect(Buffer.from(reply.body).toString()).toBe('{"a":1}');
  });

  test("tries the addresses of a name until one listens", async () => {
    const { port } = await serve(pair, (_req, res) => res.end("here"));
    const target = { type: "url", url: `https://localhost:${port}/` } as const;

    const reply = await openEgressFixture().egress.call(requestTo(port, { target }));

    expect(Buffer.from(reply.body).toString()).toBe("here");
  });

  test("returns a redirect and does not follow it", async () => {
    const paths: unknown[] = [];
    const { port } = await serve(pair, (req, res) => {
      paths.push(req.url);
      res.writeHead(307, { location: "/elsewhere" }).end();
    });

    const reply = await openEgressFixture().egress.call(requestTo(port));

    expect(reply.status).toBe(307);
    expect(paths).toEqual(["/review?timeout=10s"]);
  });

  test("fails when another authority signed the certificate", async () => {
    const other = await makeAuthority("test authority");
    const { port } = await serve(await other.leaf(["127.0.0.1"]), (_req, res) => res.end());

    expect(await failureOf(openEgressFixture().egress.call(requestTo(port)))).toBe(
      `Post "https://127.0.0.1:${port}/review?timeout=10s": tls: failed to verify certificate: ` +
        "x509: certificate signed by unknown authority",
    );
  });

  test("fails when the certificate is for another name", async () => {
    const { port } = await serve(await authority.leaf(["other.example"]), (_req, res) => res.end());

    expect(await failureOf(openEgressFixture().egress.call(requestTo(port)))).toContain(
      "tls: failed to verify certificate: x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs",
    );
  });

  test("does not reuse a connection that was verified with another authority", async () => {
    const { port } = await serve(pair, (_req, res) => res.end("trusted"));
    const { egress } = openEgressFixture();
    await egress.call(requestTo(port));
    const other = await makeAuthority("another");

    expect(await failureOf(egress.call(requestTo(port, { trust: { ca: other.cert } })))).toContain(
      "unknown authority",
    );
  });

  test("accepts any certificate when verification is off", async () => {
    const other = await makeAuthority("another");
    const { port } = await serve(await other.leaf(["other.example"]), (_req, res) => res.end("yes"));

    const reply = await openEgressFixture().egress.call(
      requestTo(port, { trust: { isVerificationOff: true } }),
    );

    expect(Buffer.from(reply.body).toString()).toBe("yes");
  });

  test("fails when the response is too long, even if it never ends", async () => {
    const { port } = await serve(pair, (_req, res) => {
      pipeline(endless(), res, () => undefined);
    });

    expect(await failureOf(openEgressFixture().egress.call(requestTo(port)))).toContain(
      "the answer is longer than 1000 bytes",
    );
  });

  test("times out when the server does not respond, or not completely", async () => {
    const silent = await serve(pair, () => undefined);
    const halting = await serve(pair, (_req, res) => void res.write("half"));
    const { egress } = openEgressFixture();

    for (const { port } of [silent, halting]) {
      expect(await failureOf(egress.call(requestTo(port, { timeoutMs: 50 })))).toBe(
        `Post "https://127.0.0.1:${port}/review?timeout=10s": context deadline exceeded`,
      );
    }
  });

  test("names the address that refused the connection", async () => {
    const { port, server } = await serve(pair, (_req, res) => res.end());
    await new Promise((resolve) => server.close(resolve));

    expect(await failureOf(openEgressFixture().egress.call(requestTo(port)))).toBe(
      `Post "https://127.0.0.1:${port}/review?timeout=10s": dial tcp 127.0.0.1:${port}: connect: connection refused`,
    );
  });

  test("says that a server answers without TLS", async () => {
    const server = createHttpServer((_req, res) => res.end());
    onTestFinished(() => void server.close());
    const port = await listening(server);

    expect(await failureOf(openEgressFixture().egress.call(requestTo(port)))).toContain(
      "http: server gave HTTP response to HTTPS client",
    );
  });

  test("ends at once when its caller cancels it", async () => {
    const abort = new AbortController();
    const { port } = await serve(pair, () => abort.abort());

    expect(
      await failureOf(openEgressFixture().egress.call(requestTo(port, { signal: abort.signal }))),
    ).toContain("context canceled");
  });

  test("checks the resolved address, not the name", async () => {
    const { port } = await serve(pair, (_req, res) => res.end());
    const { egress } = openEgressFixture();
    const address = egress.resolve({ type: "url", url: `https://localhost:${port}/` });
    const open = { address, trust: {}, method: "GET", path: "", headers: {}, body: undefined } as const;
    const signal = new AbortController().signal;

    const opening = egress.open({
      ...open,
      origin: "reported",
      mayUpgrade: false,
      isRepeatable: true,
      signal,
    });

    expect(await failureOf(opening)).toBe("address not allowed");
  });

  test("does not reach link-local addresses", async () => {
    const target = { type: "url", url: "https://169.254.169.254/latest" } as const;

    expect(await failureOf(openEgressFixture().egress.call(requestTo(443, { target })))).toContain(
      "address not allowed",
    );
  });

  test("is refused by a simulated loop that allows no calls", async () => {
    const virtual = new VirtualLoop({ seed: 1 });
    const { egress } = openEgressFixture(virtual);

    const failure = failureOf(egress.call(requestTo(9)));
    await virtual.settle();

    expect(await failure).toContain('pass outside: ["egress"]');
  });
});

/** Answers the first request of each connection, and closes the connection on the second. */
async function serveOncePerConnection(): Promise<{ readonly port: number; readonly requests: string[] }> {
  const requests: string[] = [];
  const server = createTlsServer(pair, (socket: TLSSocket) => {
    let count = 0;
    socket.on("error", () => undefined);
    socket.on("data", (bytes: Buffer) => {
      requests.push(bytes.toString().split(" ")[0] ?? "");
      count++;
      if (count > 1) socket.destroy();
      else socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    });
  });
  onTestFinished(() => void server.close());
  return { requests, port: await listening(server) };
}

describe("a kept-alive connection that turns out to be closed", () => {
  test("is replaced once for a repeatable request", async () => {
    const { port, requests } = await serveOncePerConnection();
    const { egress } = openEgressFixture();
    await egress.call(requestTo(port, { method: "GET", body: undefined }));

    const reply = await egress.call(requestTo(port, { isRepeatable: true }));

    expect(reply.status).toBe(200);
    expect(requests).toEqual(["GET", "POST", "POST"]);
  });

  test("fails a request that the server may have executed already", async () => {
    const { port, requests } = await serveOncePerConnection();
    const { egress } = openEgressFixture();
    await egress.call(requestTo(port));

    expect(await failureOf(egress.call(requestTo(port)))).toContain("EOF");
    expect(requests).toEqual(["POST", "POST"]);
  });
});

describe("a Service", () => {
  const target = { type: "service", namespace: "system", name: "hook", port: 443, path: "/review" } as const;

  async function putService(fixture: EgressFixture, spec: Readonly<Record<string, unknown>>): Promise<void> {
    await fixture.put("services/specs", { metadata: { name: "hook", namespace: "system" }, spec });
  }

  async function putSlice(fixture: EgressFixture, endpoints: unknown, port = 8443): Promise<void> {
    await fixture.put("endpointslices", {
      metadata: { name: "hook-1", namespace: "system", labels: { "kubernetes.io/service-name": "hook" } },
      addressType: "IPv4",
      endpoints,
      ports: [
        { name: "metrics", port: 1, protocol: "TCP" },
        { name: "https", port, protocol: "TCP" },
      ],
    });
  }

  const ports = [
    { name: "metrics", port: 80, targetPort: 1 },
    { name: "https", port: 443, targetPort: "https" },
  ];

  test("resolves to a ready endpoint, under its own name and on the endpoint's port", async () => {
    const fixture = openEgressFixture();
    await putService(fixture, { type: "ClusterIP", clusterIP: "10.96.0.9", ports });
    await putSlice(fixture, [
      { addresses: ["10.1.0.1"], conditions: { ready: false } },
      { addresses: ["10.1.0.2"], conditions: {} },
    ]);

    expect(fixture.egress.resolve(target)).toEqual({
      host: "10.1.0.2",
      port: 8443,
      serverName: "hook.system.svc",
      authority: "hook.system.svc:443",
      basePath: "/review",
      isTls: true,
    });
  });

  test("is called with its name in TLS and in the request", async () => {
    const { port } = await serve(pair, (req, res) => res.end(req.headers["host"]));
    const fixture = openEgressFixture();
    await putService(fixture, { type: "ClusterIP", clusterIP: "None", ports });
    await putSlice(fixture, [{ addresses: ["127.0.0.1"], conditions: { ready: true } }], port);

    const reply = await fixture.egress.call(requestTo(port, { target }));

    expect(Buffer.from(reply.body).toString()).toBe("hook.system.svc:443");
  });

  test("does not resolve to pods without a network, whose addresses may belong to other machines", async () => {
    const fixture = openEgressFixture();
    await fixture.put("minions", { metadata: { name: "one", namespace: "", annotations: NO_POD_NETWORK } });
    await fixture.put("minions", { metadata: { name: "two", namespace: "" } });
    await putService(fixture, { type: "ClusterIP", clusterIP: "10.96.0.9", ports });
    await putSlice(fixture, [{ addresses: ["10.1.0.1"], conditions: {}, nodeName: "one" }]);
    const resolve = (): unknown => fixture.egress.resolve(target);

    expect(resolve).toThrow('no endpoints available for service "hook": its pods are on nodes without');
    await putSlice(fixture, [
      { addresses: ["10.1.0.1"], conditions: {}, nodeName: "one" },
      { addresses: ["10.1.0.2"], conditions: {}, nodeName: "two" },
    ]);
    expect(resolve()).toMatchObject({ host: "10.1.0.2" });
  });

  test("of type ExternalName is called by its external name", async () => {
    const fixture = openEgressFixture();
    await putService(fixture, { type: "ExternalName", externalName: "hooks.example" });

    expect(fixture.egress.resolve(target)).toMatchObject({ host: "hooks.example", port: 443 });
  });

  test("without endpoints fails with a reason", async () => {
    const fixture = openEgressFixture();
    const message = async (): Promise<string> => failureOf(fixture.egress.call(requestTo(443, { target })));
    const url = 'Post "https://hook.system.svc:443/review?timeout=10s"';

    expect(await message()).toBe(`${url}: service "hook" not found`);
    await putService(fixture, { type: "ClusterIP", clusterIP: "10.96.0.9", ports });
    expect(await message()).toBe(`${url}: no endpoints available for service "hook"`);
    await putSlice(fixture, [{ addresses: ["10.1.0.1"], conditions: { ready: false } }]);
    expect(await message()).toBe(`${url}: no endpoints available for service "hook"`);
    await putService(fixture, { type: "ClusterIP", clusterIP: "10.96.0.9", ports: [{ port: 80 }] });
    expect(await message()).toBe(`${url}: no service port 443 found for service "hook"`);
  });
});
