/**
 * A cache of 10,000 pods of 4 KB with managedFields and status: its memory in the server's process, whose objects it shares, and over HTTP;
 * and its delay behind writes.
 */
import { performance } from "node:perf_hooks";
import { startCluster } from "setpoint";
import { Pod } from "../../src/api/generated/types/core-v1.ts";
import { silentLog } from "../../src/base/log/log.ts";
import type { Loop } from "../../src/base/loop/loop.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { createMetrics } from "../../src/base/metrics/prom-metrics.ts";
import { connect } from "../../src/client/connection.ts";
import type { Transport, TransportRequest } from "../../src/client/transport.ts";
import { inProcessTransport } from "../../src/cluster/control-plane/in-process-transport.ts";
import { CacheSet } from "../../src/runtime/cache/cache-set.ts";
import type { Cache } from "../../src/runtime/cache/cache.ts";
import { makeTokenKeys } from "../../src/server/pki/token-keys.ts";
import { createApiServer } from "../../src/server/server.ts";
import { openMemoryStore } from "../../src/store/memory-store.ts";
import { percentile, verdict, whole } from "./row.ts";
import type { Bench, Row } from "./row.ts";

const PODS = 10_000;
const PATH = "/api/v1/namespaces/default/pods";
const WRITERS = 32;
const UPDATES = 2000;
const DIRECT_MB = 5;
const HTTP_MB = 45;
const SEEN_MS = 2;

interface CacheFigures {
  readonly mb: number;
  /** Size of one pod as JSON. */
  readonly podBytes: number;
  readonly seenMs: readonly number[];
}

/** Measures the cache in the server's process. */
export async function cacheDirectChild(): Promise<CacheFigures> {
  const loop = createRealLoop({ name: "bench" });
  const store = openMemoryStore({ loop: loop.child("store") });
  const serverLoop = loop.child("server");
  const { handler } = createApiServer(
    { loop: serverLoop, log: silentLog, metrics: createMetrics(), store },
    { tokenKeys: makeTokenKeys },
  );
  const user = { user: "admin", groups: ["system:masters"] };
  const client = loop.child("client");
  const transport = inProcessTransport({ handler, loop: client, serverLoop, user });
  await request(transport, {
    method: "POST",
    path: "/api/v1/namespaces",
    body: { metadata: { name: "default" } },
  });
  // Pods need a service account, and no controller creates it here.
  await request(transport, {
    method: "POST",
    path: "/api/v1/namespaces/default/serviceaccounts",
    body: { metadata: { name: "default" } },
  });
  await fill(transport);
  // The server decodes objects on the first read; that memory belongs to the server, not to the cache.
  await request(transport, { method: "GET", path: PATH });
  const figures = await measure(transport, loop);
  await store.close();
  return figures;
}

/** Measures the cache over HTTP, with the server in another process. */
export async function cacheHttpChild({ kubeconfig }: HttpArgument): Promise<CacheFigures> {
  const loop = createRealLoop({ name: "bench" });
  const { transport } = await connect({ file: kubeconfig, loop: loop.child("client") });
  await fill(transport);
  const figures = await measure(transport, loop);
  await transport.close();
  return figures;
}

interface HttpArgument {
  readonly kubeconfig: string;
}

async function measure(transport: Transport, loop: Loop): Promise<CacheFigures> {
  const caches = new CacheSet({
    transport,
    loop: loop.child("caches"),
    log: silentLog,
    metrics: createMetrics(),
  });
  const cache = caches.use(Pod);
  const ending = new AbortController();
  const before = await heapMb();
  const running = caches.run(ending.signal);
  await cache.synced(ending.signal);
  const mb = (await heapMb()) - before;
  if (cache.size !== PODS) throw new Error(`the cache has ${String(cache.size)} pods`);
  const seenMs = await seenAfter(transport, cache);
  const podBytes = JSON.stringify(await request(transport, { method: "GET", path: `${PATH}/pod-1` })).length;
  ending.abort();
  await running;
  return { mb, podBytes, seenMs };
}

/** Delay from the response to a write until the cache reports it; 0 when the cache was sooner. */
async function seenAfter(transport: Transport, cache: Cache<Pod>): Promise<readonly number[]> {
  const seenMs: number[] = [];
  for (let n = 0; n < UPDATES; n++) {
    const name = `pod-${String(n)}`;
    let seenAt = 0;
    const seen = new Promise<void>((resolve) => {
      const leave = cache.subscribe(() => {
        seenAt = performance.now();
        leave();
        resolve();
      });
    });
    const body = { metadata: { annotations: { n: String(n) } } };
    const contentType = "application/merge-patch+json";
    await request(transport, { method: "PATCH", path: `${PATH}/${name}`, body, contentType });
    const answeredAt = performance.now();
    await seen;
    seenMs.push(Math.max(0, seenAt - answeredAt));
  }
  return seenMs;
}

async function heapMb(): Promise<number> {
  for (let round = 0; round < 4; round++) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed / 1e6;
}

async function fill(transport: Transport): Promise<void> {
  let next = 0;
  const write = async (): Promise<void> => {
    for (let n = next++; n < PODS; n = next++) {
      const name = `pod-${String(n)}`;
      await request(transport, { method: "POST", path: PATH, body: pod(name), userAgent: "replica-set/1" });
      const status = { metadata: { name }, status: statusOf(n) };
      const path = `${PATH}/${name}/status`;
      const contentType = "application/merge-patch+json";
      await request(transport, { method: "PATCH", path, body: status, contentType, userAgent: "agent/1" });
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
}

async function request(transport: Transport, asked: TransportRequest): Promise<unknown> {
  const { code, value } = await transport.send(asked);
  if (code > 299) throw new Error(`${asked.method} ${asked.path} was answered with ${JSON.stringify(value)}`);
  return value;
}

function pod(name: string): unknown {
  const env = ["A", "B", "C", "D"].map((letter) => ({ name: `VARIABLE_${letter}`, value: "a value" }));
  const container = {
    name: "main",
    image: "registry.example/app:1.2.3",
    env,
    ports: [{ containerPort: 8080 }],
  };
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "0f6f1a5e", controller: true };
  return {
    metadata: { name, labels: { app: "web", tier: "front" }, ownerReferences: [owner] },
    spec: { containers: [container], nodeName: "node-1" },
  };
}

function statusOf(n: number): unknown {
  const at = "2026-01-01T00:00:00Z";
  const conditions = ["PodScheduled", "Initialized", "ContainersReady", "Ready"].map((type) => ({
    type,
    status: "True",
    lastTransitionTime: at,
  }));
  const ip = `10.${String(n >> 16)}.${String((n >> 8) & 255)}.${String(n & 255)}`;
  const main = {
    name: "main",
    ready: true,
    restartCount: 0,
    image: "registry.example/app:1.2.3",
    imageID: `registry.example/app@sha256:${"0123456789abcdef".repeat(4)}`,
    containerID: `containerd://${String(n).padStart(64, "0")}`,
    started: true,
    state: { running: { startedAt: at } },
  };
  const ips = { podIP: ip, podIPs: [{ ip }], hostIP: "192.168.0.1", hostIPs: [{ ip: "192.168.0.1" }] };
  return {
    phase: "Running",
    conditions,
    ...ips,
    startTime: at,
    containerStatuses: [main],
    qosClass: "BestEffort",
  };
}

export const runtimeCache: Bench = {
  name: "runtime-cache",
  async run(context) {
    context.progress(`runtime-cache: ${whole(PODS)} pods in process`);
    const direct = (await context.child("runtime-cache-direct", {})) as CacheFigures;
    context.progress(`runtime-cache: ${whole(PODS)} pods over HTTP`);
    // Without controllers, only this benchmark writes pods.
    const cluster = await startCluster({ loops: "none" });
    try {
      const kubeconfig = await cluster.kubeconfig();
      const http = (await context.child("runtime-cache-http", { kubeconfig })) as CacheFigures;
      return [
        memoryRow("in process", direct, DIRECT_MB),
        memoryRow("over HTTP", http, HTTP_MB),
        seenRow(direct),
      ];
    } finally {
      await cluster.stop();
    }
  },
};

function memoryRow(where: string, { mb, podBytes }: CacheFigures, aimMb: number): Row {
  return {
    what: `cache of ${whole(PODS)} pods ${where}: memory`,
    value: `${mb.toFixed(1)} MB`,
    yardstick: `${whole((PODS * podBytes) / 1e6)} MB as JSON (${whole(podBytes)} bytes each)`,
    figure: `${mb.toFixed(1)} MB`,
    aim: `≤ ${String(aimMb)} MB`,
    verdict: verdict(mb <= aimMb),
  };
}

function seenRow({ seenMs }: CacheFigures): Row {
  const p99 = percentile(seenMs, 0.99);
  return {
    what: "update seen in the cache after it was acknowledged, in process, p99",
    value: `${p99.toFixed(2)} ms`,
    yardstick: `median ${percentile(seenMs, 0.5).toFixed(2)} ms`,
    figure: `${p99.toFixed(2)} ms`,
    aim: `≤ ${String(SEEN_MS)} ms`,
    verdict: verdict(p99 <= SEEN_MS),
  };
}
