/** A whole server over a store into which a test writes any value, past the API. */
import { silentLog } from "../../src/base/log/log.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { createMetrics } from "../../src/base/metrics/prom-metrics.ts";
import { ControlPlane } from "../../src/cluster/control-plane/control-plane.ts";
import { servedVersions } from "../../src/cluster/files/runtime-config.ts";
import { admissionForLoops } from "../../src/cluster/loops/needed-loops.ts";
import { makeTokenKeys } from "../../src/server/pki/token-keys.ts";
import type { HttpResponse } from "../../src/server/request/http.ts";
import { DEFAULT_NETWORK } from "../../src/server/write/companions/network-options.ts";
import type { Store } from "../../src/store/store.ts";
import { wholeBody, type Reply, type ReplyBody } from "../api-harness.ts";

const ADMIN = { user: "kubernetes-admin", groups: ["system:masters"] };

export class StoredValuesFixture implements AsyncDisposable {
  readonly store: Store;
  readonly #plane: ControlPlane;
  readonly #ending = new AbortController();
  readonly #ended: Promise<void>;

  private constructor(store: Store, plane: ControlPlane) {
    this.store = store;
    this.#plane = plane;
    this.#ended = plane.run(this.#ending.signal);
  }

  /** Rejects if the server does not start. */
  static async start(
    store: Store,
    options: { readonly isStoreShared?: boolean } = {},
  ): Promise<StoredValuesFixture> {
    const plane = new ControlPlane({
      surroundings: {
        loop: createRealLoop({ name: "server" }),
        log: silentLog,
        metrics: createMetrics(),
        store,
      },
      server: {
        tokenKeys: makeTokenKeys,
        isServed: servedVersions({ "api/all": true }),
        network: { ...DEFAULT_NETWORK, serviceCidrs: ["10.96.0.0/16"] },
        admission: admissionForLoops("none"),
        upkeep: { isStoreShared: options.isStoreShared ?? false, hostname: "this-machine" },
      },
      freezes: false,
    });
    await plane.settle({ host: "10.0.0.1", port: 6443, machineAddresses: [] });
    return new StoredValuesFixture(store, plane);
  }

  /** Writes a raw value, past the API. */
  async put(key: string, value: Uint8Array | string): Promise<void> {
    await this.store.write({ changes: [{ type: "put", key, value: Buffer.from(value) }] });
  }

  async send(method: string, target: string, body?: unknown): Promise<Reply> {
    const response = await this.raw(method, target, body);
    const bytes = await wholeBody(response);
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
    const parsed = (isJson && bytes.length > 0 ? JSON.parse(bytes.toString()) : {}) as ReplyBody;
    return { code: response.status, headers: response.headers, bytes, body: parsed };
  }

  async raw(method: string, target: string, body?: unknown): Promise<HttpResponse> {
    const bytes = Buffer.from(body === undefined ? "" : JSON.stringify(body));
    const patch = "application/merge-patch+json";
    const headers = new Map([
      ["user-agent", "test/1"],
      ["content-type", method === "PATCH" ? patch : "application/json"],
    ]);
    return this.#plane.handler({
      method,
      target,
      headers,
      peer: ADMIN,
      signal: this.#ending.signal,
      readBody: () => Promise.resolve(bytes),
    });
  }

  /** Rejects if part of the server failed. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#ended;
  }
}
