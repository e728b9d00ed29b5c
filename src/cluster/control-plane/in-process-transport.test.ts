import { getEventListeners } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { silentLog } from "../../base/log/log.ts";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import { createMetrics } from "../../base/metrics/prom-metrics.ts";
import type { Transport, TransportEvent, TransportRequest } from "../../client/transport.ts";
import { makeTokenKeys } from "../../server/pki/token-keys.ts";
import { createApiServer } from "../../server/server.ts";
import { openMemoryStore } from "../../store/memory-store.ts";
import { inProcessTransport } from "./in-process-transport.ts";

const NAMESPACE = { metadata: { name: "default" } };
const MAPS = "/api/v1/namespaces/default/configmaps";

describe("the in-process transport", () => {
  test("answers with the server's own values, and takes bodies as JSON takes them", async () => {
    const { transport, run } = await start();
    const labels = { a: "b", gone: undefined };

    const made = await run(transport.send(post(MAPS, { metadata: { name: "x", labels }, data: { k: "v" } })));
    labels.a = "changed";
    const read = await run(transport.send({ method: "GET", path: `${MAPS}/x` }));

    expect(made).toMatchObject({ code: 201, value: { metadata: { labels: { a: "b" } }, data: { k: "v" } } });
    expect(read.value).toBe(made.value);
  });

  test("returns an error as a Status, and warnings as plain text", async () => {
    const { transport, run } = await start();

    const refused = await run(transport.send({ method: "GET", path: `${MAPS}/none` }));
    const warned = await run(transport.send(post(MAPS, { metadata: { name: "x" }, a: 1 })));

    expect(refused).toMatchObject({ code: 404, value: { kind: "Status", reason: "NotFound" } });
    expect(warned.warnings).toEqual(['unknown field "a"']);
  });

  test("lists whole objects or their metadata", async () => {
    const { transport, run } = await start();
    await run(transport.send(post(MAPS, { metadata: { name: "x" }, data: { k: "v" } })));

    const whole = await run(transport.send({ method: "GET", path: MAPS }));
    const metadata = await run(transport.send({ method: "GET", path: MAPS, form: "metadata" }));

    expect(whole.value).toMatchObject({ kind: "ConfigMapList", items: [{ data: { k: "v" } }] });
    expect(metadata.value).toMatchObject({ items: [{ kind: "PartialObjectMetadata" }] });
    expect(JSON.stringify(metadata.value)).not.toContain('"data"');
  });

  test("watches until the reader leaves or aborts", async () => {
    const { transport, run, loop } = await start();
    const ending = new AbortController();
    const request: TransportRequest = {
      method: "GET",
      path: MAPS,
      query: { watch: "true" },
      signal: ending.signal,
    };
    const seen: string[] = [];

    const { items } = await run(transport.watch(request));
    const reading = collect(items, seen);
    await run(transport.send(post(MAPS, { metadata: { name: "x" } })));
    await run(transport.send({ method: "DELETE", path: `${MAPS}/x` }));
    await loop.settle();
    ending.abort();
    await loop.settle();

    await reading;
    expect(seen).toEqual(["ADDED x", "DELETED x"]);
  });

  test("answers other paths too", async () => {
    const { transport, run } = await start();

    const version = await run(transport.send({ method: "GET", path: "/version" }));

    expect(version.value).toMatchObject({ major: "1" });
  });

  test("an aborted request rejects with the signal's reason, even when the server answers", async () => {
    const { transport, run, loop } = await start();
    const ending = new AbortController();

    const sending = transport.send({ ...post(MAPS, { metadata: { name: "x" } }), signal: ending.signal });
    ending.abort(new Error("enough"));

    await expect(sending).rejects.toThrow("enough");
    await loop.settle();
    expect((await run(transport.send({ method: "GET", path: `${MAPS}/x` }))).code).toBe(200);
  });

  test("closing the transport ends requests in flight", async () => {
    const { transport, loop } = await start();
    const sending = transport.send({ method: "GET", path: MAPS });

    await transport.close();

    await expect(sending).rejects.toMatchObject({ reason: "ServiceUnavailable" });
    await loop.settle();
  });

  test("a watch that has ended before its response leaves no listener", async () => {
    const { transport, loop } = await start();
    const { signal } = new AbortController();
    const watching = transport.watch({ method: "GET", path: MAPS, query: { watch: "true" }, signal });
    expect(getEventListeners(signal, "abort")).not.toHaveLength(0);

    await transport.close();

    await expect(watching).rejects.toMatchObject({ reason: "ServiceUnavailable" });
    await loop.settle();
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
});

interface Started {
  readonly transport: Transport;
  readonly loop: VirtualLoop;
  /** Runs the world until the promise has settled. */
  readonly run: <T>(promise: Promise<T>) => Promise<T>;
}

async function start(): Promise<Started> {
  const loop = new VirtualLoop({ seed: 1 });
  const store = openMemoryStore({ loop: loop.child("store") });
  onTestFinished(() => store.close());
  const serverLoop = loop.child("server");
  const { handler } = createApiServer(
    { loop: serverLoop, log: silentLog, metrics: createMetrics(), store },
    { tokenKeys: makeTokenKeys },
  );
  const transport = inProcessTransport({
    handler,
    loop: loop.child("client"),
    serverLoop,
    user: { user: "admin", groups: ["system:masters"] },
  });
  const run = <T>(promise: Promise<T>): Promise<T> => {
    return loop.finish(promise);
  };
  await run(transport.send(post("/api/v1/namespaces", NAMESPACE)));
  return { transport, loop, run };
}

function post(path: string, body: unknown): TransportRequest {
  return { method: "POST", path, body };
}

async function collect(items: AsyncIterable<readonly TransportEvent[]>, seen: string[]): Promise<void> {
  for await (const events of items) {
    for (const { type, object } of events) {
      seen.push(`${type} ${(object as { metadata: { name: string } }).metadata.name}`);
    }
  }
}
