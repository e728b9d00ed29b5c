/** A watcher over HTTPS, through a proxy that cuts the sockets within answers. */
import { once } from "node:events";
import { createServer, connect } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ApiObject } from "../../src/api/api-object.ts";
import { ConfigMap } from "../../src/api/generated/types/core-v1.ts";
import { silentLog } from "../../src/base/log/log.ts";
import type { Random } from "../../src/base/loop/loop.ts";
import { seededRandom } from "../../src/base/loop/random.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { httpTransport } from "../../src/client/http-transport.ts";
import { Cache } from "../../src/runtime/cache/cache.ts";
import type { WatcherEvent } from "../../src/runtime/watch/watcher-event.ts";
import { Watcher } from "../../src/runtime/watch/watcher.ts";
import { startServer } from "../../src/server/transport/fixture.ts";
import { text, TestApi, watchEvents, listOf } from "../api-harness.ts";
import { stateText, watcherViolations, type Happened } from "./watcher-history.ts";

const LAST = "last";
const MAPS = "/api/v1/namespaces/default/configmaps";
/** More would take long: each failure waits twice as long as the one before. */
const CUTS = 6;
/** Cuts reach from within the handshake to after some events. */
const CUT_BYTES_MAX = 12_000;

/** Cuts the first connections, each after some bytes of the server's. */
class CuttingProxy {
  cuts = 0;
  readonly #random: Random;
  readonly #target: number;
  readonly #sockets = new Set<Socket>();

  constructor(target: number, random: Random) {
    this.#target = target;
    this.#random = random;
  }

  /** Resolves with the port. */
  async listen(): Promise<number> {
    const server = createServer((socket) => this.#accept(socket));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => {
      server.close();
      for (const socket of this.#sockets) socket.destroy();
    });
    return (server.address() as AddressInfo).port;
  }

  #accept(near: Socket): void {
    const far = connect(this.#target, "127.0.0.1");
    let left = this.cuts < CUTS ? this.#random.below(CUT_BYTES_MAX) : Infinity;
    const end = (): void => {
      near.destroy();
      far.destroy();
    };
    near.on("data", (bytes) => far.write(bytes));
    far.on("data", (bytes) => {
      near.write(bytes.subarray(0, Math.min(left, bytes.length)));
      left -= bytes.length;
      if (left > 0) return;
      this.cuts++;
      near.resetAndDestroy();
      end();
    });
    for (const socket of [near, far]) {
      this.#sockets.add(socket);
      socket.on("error", end).on("close", end);
    }
  }
}

/** Sees everything up to the object that is created last. */
async function witness(api: TestApi): Promise<readonly Happened[]> {
  const happened: Happened[] = [];
  const response = await api.raw("GET", `${MAPS}?watch=true&resourceVersion=1`);
  for await (const { type, object } of watchEvents(response)) {
    const name = text(object["metadata"]?.["name"]);
    const resourceVersion = text(object["metadata"]?.["resourceVersion"]);
    happened.push({ type: type === "DELETED" ? "delete" : "put", name, version: Number(resourceVersion) });
    if (name === LAST) break;
  }
  return happened;
}

/** Returns the resource version of the last write. */
async function writeUntil(isOver: () => boolean, api: TestApi, random: Random): Promise<string> {
  const loop = createRealLoop({ name: "writer" });
  for (let at = 0; ; at++) {
    const name = `map-${random.below(8)}`;
    const body = { metadata: { name }, data: { at: String(at), text: "ü€😀".repeat(20) } };
    const choice = random.below(4);
    if (choice === 0) await api.send("DELETE", `${MAPS}/${name}`);
    else if (choice === 1) await api.send("POST", MAPS, body);
    else await api.send("PUT", `${MAPS}/${name}`, body);
    if (isOver()) break;
    // No faster than a busy kind changes.
    await new Promise<void>((resolve) => void loop.timer(loop.now() + 2, "progress", resolve));
  }
  const { body } = await api.send("POST", MAPS, { metadata: { name: LAST } });
  return text(body["metadata"]?.["resourceVersion"]);
}

describe("a watcher over HTTPS", () => {
  test.each([1, 2])("survives sockets that are cut anywhere (seed %i)", async (seed) => {
    await using api = await TestApi.start();
    const { listener, pki } = await startServer(api.handler);
    const random = seededRandom(seed, "", "");
    const proxy = new CuttingProxy(listener.port, random);
    const loop = createRealLoop({ name: "test" });
    const transport = httpTransport({
      loop,
      server: `https://127.0.0.1:${String(await proxy.listen())}`,
      ca: { text: pki.ca.cert },
      user: { certificate: { text: pki.admin.cert }, key: { text: pki.admin.key } },
    });
    const ending = new AbortController();
    const witnessing = witness(api);
    const delivered: WatcherEvent<ApiObject>[] = [];
    const cache = new Cache<ApiObject>(silentLog);
    const watcher = new Watcher<ApiObject>({
      transport,
      type: ConfigMap,
      loop: loop.child("watcher"),
      log: silentLog,
    });
    const running = watcher.run((event) => {
      delivered.push(event);
      cache.apply(event);
    }, ending.signal);

    const last = await writeUntil(() => proxy.cuts >= CUTS, api, random);
    await cache.waitFor(last, ending.signal);
    const { body } = await api.send("GET", MAPS);
    ending.abort();
    await running;
    await transport.close();

    expect(watcherViolations(delivered, await witnessing)).toEqual([]);
    expect(stateText(cache.list())).toBe(stateText(listOf<ApiObject>(body["items"])));
    expect(delivered.some(({ type }) => type === "changes")).toBe(true);
  });
});
