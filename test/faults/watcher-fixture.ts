/** A server on a virtual clock and transports to it, for tests of layers above the transport. */
import { onTestFinished } from "vitest";
import { silentLog } from "../../src/base/log/log.ts";
import { VirtualLoop } from "../../src/base/loop/virtual/virtual-loop.ts";
import { createMetrics } from "../../src/base/metrics/prom-metrics.ts";
import type { Transport, TransportResponse } from "../../src/client/transport.ts";
import { inProcessTransport } from "../../src/cluster/control-plane/in-process-transport.ts";
import { admissionForLoops } from "../../src/cluster/loops/needed-loops.ts";
import { makeTokenKeys } from "../../src/server/pki/token-keys.ts";
import type { HttpHandler } from "../../src/server/request/http.ts";
import { createApiServer } from "../../src/server/server.ts";
import { openMemoryStore } from "../../src/store/memory-store.ts";
import type { Store } from "../../src/store/store.ts";

export const MAPS = "/api/v1/namespaces/default/configmaps";

export class WatcherFixture {
  readonly loop: VirtualLoop;
  readonly store: Store;
  readonly handler: HttpHandler;
  readonly transport: Transport;
  /** Transport of the test itself. */
  readonly #own: Transport;

  private constructor(seed: number) {
    this.loop = new VirtualLoop({ seed });
    this.store = openMemoryStore({ loop: this.loop.child("store") });
    const serverLoop = this.loop.child("server");
    const { handler } = createApiServer(
      { loop: serverLoop, log: silentLog, metrics: createMetrics(), store: this.store },
      { admission: admissionForLoops("none"), tokenKeys: makeTokenKeys },
    );
    this.handler = handler;
    const user = { user: "admin", groups: ["system:masters"] };
    const server = { handler, serverLoop, user, freezes: true };
    this.transport = inProcessTransport({ ...server, loop: this.loop.child("client") });
    this.#own = inProcessTransport({ ...server, loop: this.loop.child("test") });
  }

  /** Starts with the namespace `default`. Closes with the test. */
  static async start(seed = 1): Promise<WatcherFixture> {
    const world = await WatcherFixture.begin(seed);
    onTestFinished(() => world.store.close());
    return world;
  }

  /** Like `start`, but the caller closes it. */
  static async begin(seed: number): Promise<WatcherFixture> {
    const world = new WatcherFixture(seed);
    await world.send("POST", "/api/v1/namespaces", { metadata: { name: "default" } });
    return world;
  }

  /** Runs the world until the response arrives. */
  send(method: "GET" | "POST" | "PUT" | "DELETE", path: string, body?: unknown): Promise<TransportResponse> {
    return this.run(this.#own.send({ method, path, ...(body !== undefined && { body }) }));
  }

  /** Runs the world until the promise has settled. */
  run<T>(promise: Promise<T>): Promise<T> {
    return this.loop.finish(promise);
  }

  async makeMap(name: string, data: Record<string, string> = {}): Promise<void> {
    await this.send("POST", MAPS, { metadata: { name, labels: { app: name } }, data });
  }
}
