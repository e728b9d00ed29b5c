/** Probes and hooks of containers that are programs, against real servers. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { Server as GrpcServer, ServerCredentials } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import {
  ContainerLifecycle,
  type HookFailure,
  type LifecycleRuntime,
} from "../../src/agent/pod/container-lifecycle.ts";
import { AgentProber } from "../../src/agent/probes/agent-prober.ts";
import type { CheckResult } from "../../src/agent/probes/check.ts";
import { ContainerChecks, type CheckAction } from "../../src/agent/probes/container-checks.ts";
import type {
  ContainerKey,
  ContainerPlace,
  ContainerReport,
  ExecRequest,
  SessionEnd,
  StreamSession,
} from "../../src/agent/runtime-handler.ts";
import { TimerQueue } from "../../src/agent/timer-queue.ts";
import type { Container, Pod } from "../../src/api/generated/types/core-v1.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { VirtualLoop } from "../../src/base/loop/virtual/virtual-loop.ts";

describe("an HTTP probe", () => {
  test.each([
    ["/ok", true, "fine"],
    ["/away", true, ""],
    ["/hop", true, "fine"],
    ["/broken", false, "HTTP probe failed with statuscode: 500"],
    ["/loop", false, "stopped after 10 redirects"],
  ])("of %s succeeds: %s", async (path, isSuccess, message) => {
    await using server = await serve();

    expect(await check({ action: { httpGet: { path, port: server.port } } })).toEqual({ isSuccess, message });
  });

  test("sends its headers, to a port with a name", async () => {
    await using server = await serve();
    const httpHeaders = [{ name: "X-Who", value: "probe" }];
    const ports = [{ name: "web", containerPort: server.port }];

    const result = await check({
      action: { httpGet: { path: "/headers", port: "web", httpHeaders } },
      container: { ports },
    });

    expect(result).toMatchObject({ isSuccess: true, message: "probe kube-probe/1.36" });
  });

  test("fails at its time limit, and for a port on which nothing listens", async () => {
    await using server = await serve();
    const slow = await check({ action: { httpGet: { path: "/slow", port: server.port } }, timeoutMs: 300 });
    const port = await closedPort();

    expect(slow).toEqual({ isSuccess: false, message: "timed out after 0.3s: context deadline exceeded" });
    expect(await check({ action: { httpGet: { port } } })).toMatchObject({ isSuccess: false });
  });
});

describe("a TCP probe", () => {
  test("succeeds when the port accepts a connection", async () => {
    await using server = await serve();
    const port = await closedPort();

    expect(await check({ action: { tcpSocket: { port: server.port } } })).toMatchObject({ isSuccess: true });
    expect(await check({ action: { tcpSocket: { port } } })).toMatchObject({ isSuccess: false });
  });
});

describe("a gRPC probe", () => {
  test.each([
    ["", true, "service healthy"],
    ["shop", false, 'service unhealthy (responded with "NOT_SERVING")'],
    ["unknown", false, "error: health rpc failed with status 5"],
  ])("of the service %j succeeds: %s", async (service, isSuccess, message) => {
    await using server = await serveGrpc(healthServer());

    expect(await check({ action: { grpc: { port: server.port, service } } })).toEqual({ isSuccess, message });
  });

  test("fails for a server without the health service", async () => {
    await using server = await serveGrpc(new GrpcServer());

    expect(await check({ action: { grpc: { port: server.port, service: "" } } })).toMatchObject({
      isSuccess: false,
    });
  });
});

describe("an exec probe", () => {
  test.each<[SessionEnd, boolean, string]>([
    [{ type: "exited", exitCode: 0 }, true, "out"],
    [{ type: "exited", exitCode: 3 }, false, "out"],
    [{ type: "failed", message: "no such program" }, false, "no such program"],
  ])("that ends with %j succeeds: %s", async (end, isSuccess, message) => {
    const programs = new Programs(() => Promise.resolve(end));

    expect(await check({ action: { exec: { command: ["x"] } }, programs })).toEqual({ isSuccess, message });
  });

  test("is closed at its time limit", async () => {
    const programs = new Programs(() => new Promise(() => undefined));

    const result = await check({ action: { exec: { command: ["sleep", "9"] } }, timeoutMs: 100, programs });

    expect(result).toEqual({ isSuccess: false, message: 'command "sleep 9" timed out after 0.1s' });
    expect(programs.closed).toBe(1);
  });
});

describe("a prober", () => {
  test("counts equal results up to the threshold, and stops with the container", async () => {
    const answers = [0, 1, 1, 1, 1, 0];
    const world = openProber((count) => answers[count] ?? 0);
    world.prober.probe(world.place, "liveness");

    await world.loop.advance(55_000);
    world.prober.ended({ uid: "1", container: "web" });
    await world.loop.advance(100_000);

    expect(world.reports.map(({ result, count }) => `${result} ${String(count)}`)).toEqual([
      ...["success 1", "failure 1", "failure 2", "failure 3", "success 1"],
    ]);
    expect(world.count()).toBe(6);
  });
});

describe("a preStop hook", () => {
  test.each([
    ["ends early", 2000, true, 2000],
    ["uses up the grace period", 100_000, false, 30_000],
  ])("that %s delays the stop signal", async (_, tookMs, isSuccess, signalledMs) => {
    const world = openStop({ tookMs, isSuccess });

    world.stop();
    await world.loop.advance(200_000);

    expect(world.stops).toEqual([{ afterMs: signalledMs, graceMs: Math.max(2000, 30_000 - signalledMs) }]);
    expect(world.warnings.map(({ reason }) => reason)).toEqual(isSuccess ? [] : ["FailedPreStopHook"]);
  });
});

/** Programs that end as the test says. */
class Programs {
  closed = 0;
  readonly #ended: (request: ExecRequest) => Promise<SessionEnd>;

  constructor(ended: (request: ExecRequest) => Promise<SessionEnd>) {
    this.#ended = ended;
  }

  exec(_key: ContainerKey, request: ExecRequest): StreamSession {
    const stdout = Readable.from(["out"]);
    const ended = this.#ended(request);
    return {
      ...{ stdin: undefined, stdout, stderr: undefined },
      ended: stdout.closed ? ended : new Promise((resolve) => stdout.once("close", () => resolve(ended))),
      resize: () => undefined,
      close: () => {
        this.closed += 1;
      },
    };
  }
}

interface CheckedAction {
  readonly action: CheckAction;
  readonly container?: Partial<Container>;
  readonly timeoutMs?: number;
  readonly programs?: Programs;
}

async function check({
  action,
  container = {},
  timeoutMs = 5000,
  programs,
}: CheckedAction): Promise<CheckResult> {
  const loop = createRealLoop({ name: "test" });
  const checks = new ContainerChecks({ loop, addressOf: () => "127.0.0.1" });
  const handler = programs ?? new Programs(() => Promise.reject(new Error("runs no program")));
  return checks.run(handler, { place: placeOf(container), action }, { timeoutMs });
}

function placeOf(own: Partial<Container>): ContainerPlace {
  const container: Container = { name: "web", resources: {}, ...own };
  const pod: Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace: "default", uid: "1", resourceVersion: "1", creationTimestamp: "" },
    spec: { containers: [container] },
    status: {},
  };
  return { node: "node-1", pod, container };
}

interface Serving extends AsyncDisposable {
  readonly port: number;
}

async function serve(): Promise<Serving> {
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    if (path === "/ok") response.end("fine");
    else if (path === "/away") response.writeHead(302, { location: "http://other.invalid/" }).end();
    else if (path === "/hop") response.writeHead(302, { location: "/ok" }).end();
    else if (path === "/loop") response.writeHead(302, { location: "/loop" }).end();
    else if (path === "/broken") response.writeHead(500).end("no");
    else if (path === "/headers")
      response.end(`${String(request.headers["x-who"])} ${String(request.headers["user-agent"])}`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function closedPort(): Promise<number> {
  await using server = await serve();
  return server.port;
}

async function serveGrpc(server: GrpcServer): Promise<Serving> {
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  return { port, [Symbol.asyncDispose]: async () => server.forceShutdown() };
}

/** The whole server is healthy, the service `shop` is not. */
function healthServer(): GrpcServer {
  const server = new GrpcServer();
  const bytes = { serialize: (value: Buffer) => value, deserialize: (value: Buffer) => value };
  const method = {
    path: "/grpc.health.v1.Health/Check",
    ...({ requestStream: false, responseStream: false } as const),
    ...{ requestSerialize: bytes.serialize, requestDeserialize: bytes.deserialize },
    ...{ responseSerialize: bytes.serialize, responseDeserialize: bytes.deserialize },
  };
  server.addService(
    { check: method },
    {
      check: ({ request }: { request: Buffer }, reply: (error: object | null, value?: Buffer) => void) => {
        const name = request.subarray(2).toString();
        if (name === "") reply(null, Buffer.from([8, 1]));
        else if (name === "shop") reply(null, Buffer.from([8, 2]));
        else reply({ code: 5, details: "unknown service" });
      },
    },
  );
  return server;
}

function openProber(exitCodeOf: (count: number) => number) {
  const loop = new VirtualLoop({ seed: 1, name: "test", outside: ["probe"] });
  let count = 0;
  const programs = new Programs(() => Promise.resolve({ type: "exited", exitCode: exitCodeOf(count++) }));
  const reports: Extract<ContainerReport, { type: "probed" }>[] = [];
  const prober = new AgentProber({
    ...{ loop, timers: new TimerQueue(loop), handler: programs },
    listener: {
      container: (_, report) => {
        if (report.type === "probed") reports.push(report);
      },
    },
    checks: new ContainerChecks({ loop, addressOf: () => undefined }),
  });
  const place = placeOf({ livenessProbe: { exec: { command: ["x"] } } });
  return { loop, prober, place, reports, count: () => count };
}

function openStop({ tookMs, isSuccess }: { tookMs: number; isSuccess: boolean }) {
  const loop = new VirtualLoop({ seed: 1, name: "test" });
  const startedAt = loop.now();
  const stops: { afterMs: number; graceMs: number }[] = [];
  const warnings: HookFailure[] = [];
  const lifecycle = new ContainerLifecycle({
    now: () => loop.now(),
    timers: new TimerQueue(loop),
    listener: { container: () => undefined },
    programs: undefined,
    hooks: {
      run: (_handler, _hook, { timeoutMs }) =>
        new Promise((resolve) => {
          const at = loop.now() + Math.min(tookMs, timeoutMs);
          loop.timer(at, "progress", () => resolve({ isSuccess, message: "" }));
        }),
    },
    warn: (_, failure) => warnings.push(failure),
  });
  const programs = new Programs(() => Promise.reject(new Error("runs no program")));
  const handler: LifecycleRuntime = {
    runsPrograms: true,
    exec: (key, request) => programs.exec(key, request),
    start: () => undefined,
    logs: () => Promise.resolve(undefined),
    stop: (_, { graceMs }) => stops.push({ afterMs: loop.now() - startedAt, graceMs }),
  };
  const place = placeOf({ lifecycle: { preStop: { exec: { command: ["x"] } } } });
  const stop = (): void => lifecycle.stop(handler, { ...place, delayMs: 0, graceMs: 30_000 });
  return { loop, stop, stops, warnings };
}
