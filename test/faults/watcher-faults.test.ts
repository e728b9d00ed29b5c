/** A watcher and its cache against the real server, through a transport with seeded faults. */
import { describe, expect, test } from "vitest";
import type { ApiObject } from "../../src/api/api-object.ts";
import { ConfigMap } from "../../src/api/generated/types/core-v1.ts";
import { silentLog } from "../../src/base/log/log.ts";
import type { TransportEvent } from "../../src/client/transport.ts";
import { Cache } from "../../src/runtime/cache/cache.ts";
import type { WatcherEvent } from "../../src/runtime/watch/watcher-event.ts";
import { Watcher } from "../../src/runtime/watch/watcher.ts";
import { FaultTransport } from "./watcher-fault-transport.ts";
import { MAPS, WatcherFixture } from "./watcher-fixture.ts";
import { stateText, watcherViolations, type Happened } from "./watcher-history.ts";

const SEEDS = Array.from({ length: 60 }, (_, index) => index + 1);
const WRITES = 150;
const NAMES = 12;

interface Outcome {
  readonly violations: readonly string[];
  readonly server: string;
  readonly cached: string;
  /** State that subscribers built from their events. */
  readonly followed: string;
  readonly delivered: readonly WatcherEvent<ApiObject>[];
  readonly faults: ReadonlyMap<string, number>;
  readonly trace: unknown;
}

async function play(seed: number): Promise<Outcome> {
  const world = await WatcherFixture.begin(seed);
  const { loop, store } = world;
  const ending = new AbortController();
  const happened: Happened[] = [];
  const witnessing = witness(world, happened, ending.signal);
  await loop.settle();
  const transport = new FaultTransport(world.transport, loop.child("network"));
  const watcher = new Watcher<ApiObject>({
    transport,
    type: ConfigMap,
    loop: loop.child("watcher"),
    log: silentLog,
  });
  const cache = new Cache<ApiObject>(silentLog);
  const followed = new Map<string, ApiObject>();
  cache.subscribe(({ before, after }) => {
    const name = (after ?? before)?.metadata.name ?? "";
    if (after === undefined) followed.delete(name);
    else followed.set(name, after);
  });
  const delivered: WatcherEvent<ApiObject>[] = [];
  const running = watcher.run((event) => {
    delivered.push(event);
    cache.apply(event);
  }, ending.signal);

  await writeAtRandom(world);
  transport.isHealed = true;
  await loop.advance(600_000);
  const { value } = await world.send("GET", MAPS);
  ending.abort();
  await loop.settle();
  await Promise.all([running, witnessing]);
  await store.close();
  return {
    violations: watcherViolations(delivered, happened),
    server: stateText((value as { readonly items: readonly ApiObject[] }).items),
    cached: stateText(cache.list()),
    followed: stateText([...followed.values()]),
    delivered,
    faults: transport.counts,
    trace: loop.trace,
  };
}

/** A client whose connection never fails. */
async function witness(world: WatcherFixture, happened: Happened[], signal: AbortSignal): Promise<void> {
  const query = { watch: "true", resourceVersion: "1", timeoutSeconds: "100000" };
  const { items } = await world.transport.watch({ method: "GET", path: "/api/v1/configmaps", query, signal });
  for await (const batch of items) happened.push(...batch.map(happenedOf));
}

function happenedOf({ type, object }: TransportEvent): Happened {
  const { name = "", resourceVersion = "" } = (object as ApiObject).metadata;
  return { type: type === "DELETED" ? "delete" : "put", name, version: Number(resourceVersion) };
}

/** Creations, changes and deletions of a few objects, with pauses and compactions. */
async function writeAtRandom(world: WatcherFixture): Promise<void> {
  const random = world.loop.child("writer").random("writes");
  for (let at = 0; at < WRITES; at++) {
    const name = `map-${random.below(NAMES)}`;
    const choice = random.below(10);
    if (choice < 3) await world.makeMap(name);
    else if (choice < 7)
      await world.send("PUT", `${MAPS}/${name}`, { metadata: { name }, data: { at: String(at) } });
    else if (choice < 9) await world.send("DELETE", `${MAPS}/${name}`);
    else await world.run(world.store.compact(world.store.view.revision));
    if (random.below(3) === 0) await world.loop.advance(random.below(20_000));
  }
}

describe("a watcher on a network that fails", () => {
  const faults = new Map<string, number>();

  test.each(SEEDS)("keeps all promises (seed %i)", async (seed) => {
    const outcome = await play(seed);

    expect(outcome.violations).toEqual([]);
    expect(outcome.cached).toBe(outcome.server);
    expect(outcome.followed).toBe(outcome.server);
    for (const [fault, count] of outcome.faults) faults.set(fault, (faults.get(fault) ?? 0) + count);
    const types = outcome.delivered.map(({ type }) => type);
    for (const type of types) faults.set(type, (faults.get(type) ?? 0) + 1);
  });

  test("has met every fault, and followed many changes", () => {
    const met = ["break", "tear", "silence", "refuse", "error", "delay", "repeat", "stale", "end"];

    for (const fault of met) expect(faults.get(fault) ?? 0, fault).toBeGreaterThan(SEEDS.length / 6);
    expect(faults.get("changes")).toBeGreaterThan(SEEDS.length * 20);
    expect(faults.get("reset")).toBeGreaterThan(SEEDS.length * 2);
  });

  test("does the same for the same seed", async () => {
    const [first, second] = [await play(7), await play(7)];

    expect(second.delivered).toEqual(first.delivered);
    expect(second.trace).toEqual(first.trace);
  });
});
