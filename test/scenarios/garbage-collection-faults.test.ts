import { describe, expect, onTestFinished, test } from "vitest";
import type { ApiObject } from "../../src/api/api-object.ts";
import { ConfigMap, Secret } from "../../src/api/generated/types/core-v1.ts";
import type { OwnerReference } from "../../src/api/generated/types/meta-v1.ts";
import { silentLog } from "../../src/base/log/log.ts";
import { createMetrics } from "../../src/base/metrics/prom-metrics.ts";
import type { Transport, TransportEvent } from "../../src/client/transport.ts";
import { garbageCollectorRoutine } from "../../src/controllers/garbage-collector/routine.ts";
import { createManager } from "../../src/runtime/manager/manager.ts";
import { startRuntimeFixture } from "./runtime-fixture.ts";
import type { RuntimeFixture } from "./runtime-fixture.ts";

const COLLECTOR = { routines: [garbageCollectorRoutine] };

describe.each([1, 2, 3])("a collector, seed %s", (seed) => {
  test("works over a network as it does within the process", async () => {
    const world = await startRuntimeFixture(seed);
    world.start("collector", { ...COLLECTOR, isNetwork: true });
    const owner = await create(world, "owner");
    await create(world, "dependent", [refTo(owner)]);
    await create(world, "kept", [refTo(await create(world, "other"))]);
    await world.loop.settle();

    await world.run(world.client(ConfigMap).delete(owner, { propagationPolicy: "Foreground" }));
    await world.loop.settle();

    expect(await names(world)).toEqual(["kept", "other"]);
  });

  test("deletes nothing for an owner about which the server does not answer", async () => {
    const world = await startRuntimeFixture(seed);
    const { link } = world.start("collector", COLLECTOR);
    const owner = await create(world, "owner");
    await create(world, "dependent", [refTo(owner)]);
    await world.loop.settle();

    link.mode = "refused";
    await world.run(world.client(ConfigMap).delete(owner));
    await world.loop.advance(60_000);
    expect(await names(world)).toEqual(["dependent"]);

    link.mode = "open";
    await world.loop.settle();
    expect(await names(world)).toEqual([]);
  });

  test("is not fooled by caches that are behind when owners are replaced", async () => {
    const world = await startRuntimeFixture(seed);
    const { link } = world.start("collector", COLLECTOR);
    const [old, second] = [await create(world, "owner"), await create(world, "second")];
    await create(world, "dependent", [refTo(old)]);
    await world.loop.settle();

    link.watches = "held";
    await own(world, "dependent", [refTo(second)]);
    await world.run(world.client(ConfigMap).delete(old));
    await world.loop.advance(1000);
    link.watches = "flowing";
    await world.loop.advance(1000);
    await world.loop.settle();

    expect(await names(world)).toEqual(["dependent", "second"]);
  });

  test("leaves behind also those orphans that no cache has told of yet", async () => {
    const world = await startRuntimeFixture(seed);
    const slow = new SlowWatch(world.connect("collector").transport, "/configmaps");
    start(world, slow);
    const owner = await world.run(world.client(Secret).create({ metadata: { name: "owner" } }));
    await world.loop.settle();

    slow.isHeld = true;
    await create(world, "dependent", [refTo(owner)]);
    await world.run(world.client(Secret).delete(owner, { propagationPolicy: "Orphan" }));
    await world.loop.settle();
    expect(await world.run(world.client(Secret).find({ name: "owner" }))).toBeUndefined();
    slow.release();
    await world.loop.settle();

    const { items } = await world.run(world.client(ConfigMap).list());
    expect(items.map(({ metadata }) => [metadata.name, metadata.ownerReferences])).toEqual([
      ["dependent", undefined],
    ]);
  });
});

/** Delays the watch events of one resource. */
class SlowWatch implements Transport {
  readonly sharesValues = true;
  isHeld = false;
  readonly #transport: Transport;
  readonly #path: string;
  readonly #waiting: (() => void)[] = [];

  constructor(transport: Transport, path: string) {
    this.#transport = transport;
    this.#path = path;
  }

  release(): void {
    this.isHeld = false;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  send(request: Parameters<Transport["send"]>[0]): ReturnType<Transport["send"]> {
    return this.#transport.send(request);
  }

  async watch(request: Parameters<Transport["watch"]>[0]): ReturnType<Transport["watch"]> {
    const stream = await this.#transport.watch(request);
    return request.path.endsWith(this.#path) ? { ...stream, items: this.#held(stream.items) } : stream;
  }

  read(request: Parameters<Transport["read"]>[0]): ReturnType<Transport["read"]> {
    return this.#transport.read(request);
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  async *#held(items: AsyncIterable<readonly TransportEvent[]>): AsyncGenerator<readonly TransportEvent[]> {
    for await (const item of items) {
      if (this.isHeld) await new Promise<void>((resolve) => this.#waiting.push(resolve));
      yield item;
    }
  }
}

function start({ loop, client, run }: RuntimeFixture, transport: Transport): void {
  const ending = new AbortController();
  const own = loop.child("collector-manager");
  const options = { ...COLLECTOR, loop: own, log: silentLog, metrics: createMetrics(), client, transport };
  const ended = createManager(options).run(ending.signal);
  onTestFinished(async () => {
    ending.abort(new Error("the test has ended"));
    await run(ended);
  });
}

function create(
  { client, run }: RuntimeFixture,
  name: string,
  ownerReferences: readonly OwnerReference[] = [],
): Promise<ConfigMap> {
  return run(client(ConfigMap).create({ metadata: { name, ownerReferences } }));
}

async function own(
  world: RuntimeFixture,
  name: string,
  ownerReferences: readonly OwnerReference[],
): Promise<void> {
  const changes = { metadata: { ownerReferences } };
  await world.run(world.client(ConfigMap).patch({ name }, { type: "merge", changes }));
}

function refTo({ apiVersion, kind, metadata: { name = "", uid = "" } }: ApiObject): OwnerReference {
  return { apiVersion, kind, name, uid };
}

async function names({ client, run }: RuntimeFixture): Promise<readonly string[]> {
  const { items } = await run(client(ConfigMap).list());
  return items.map(({ metadata }) => metadata.name);
}
