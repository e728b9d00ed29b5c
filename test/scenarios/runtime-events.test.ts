import { describe, expect, test } from "vitest";
import { ConfigMap, Namespace } from "../../src/api/generated/types/core-v1.ts";
import { untilAborted } from "../../src/base/loop/until-aborted.ts";
import { defineController } from "../../src/runtime/controller/controller.ts";
import type { Controller } from "../../src/runtime/controller/controller.ts";
import type { RecordedEvent } from "../../src/runtime/events/recorded-event.ts";
import type { Routine } from "../../src/runtime/manager/routine.ts";
import { startRuntimeFixture } from "./runtime-fixture.ts";

const PLACE = { namespace: "default", name: "a" };

/** Records these events about each object in its first pass. */
function recording(...events: readonly RecordedEvent[]): Controller {
  const done = new Set<string>();
  return defineController({
    name: "recording",
    for: ConfigMap,
    reconcile: async (object, { event }) => {
      if (done.has(object.metadata.uid)) return;
      done.add(object.metadata.uid);
      for (const each of events) event(object, each);
    },
  });
}

const SEEN: RecordedEvent = { type: "Normal", reason: "Seen", message: "it is there" };

describe("events", () => {
  test("look as kubectl describe expects them", async () => {
    const world = await startRuntimeFixture();
    const object = await world.run(world.client(ConfigMap).create({ metadata: PLACE }));

    const { link } = world.start("m", { controllers: [recording(SEEN)] });
    await world.loop.settle();

    const [event, ...others] = await world.events(object);
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      metadata: { namespace: "default" },
      involvedObject: {
        apiVersion: "v1",
        kind: "ConfigMap",
        namespace: "default",
        name: "a",
        uid: object.metadata.uid,
      },
      reason: "Seen",
      message: "it is there",
      type: "Normal",
      source: { component: "recording" },
      reportingComponent: "recording",
      reportingInstance: "",
      firstTimestamp: "2026-01-01T00:00:00Z",
      lastTimestamp: "2026-01-01T00:00:00Z",
      count: 1,
    });
    expect(event?.metadata.name).toMatch(/^a\.[0-9a-f]{16}$/);
    expect(link.requests.filter(({ path }) => path.endsWith("/events"))).toHaveLength(1);
  });

  test("the same one again is one create with a count, or a patch when it was written already", async () => {
    const world = await startRuntimeFixture();
    const object = await world.run(world.client(ConfigMap).create({ metadata: PLACE }));
    const controller = defineController({
      name: "again",
      for: ConfigMap,
      reconcile: async (each, { event }) => {
        event(each, SEEN);
        event(each, SEEN);
      },
    });

    const { link } = world.start("m", { controllers: [controller] });
    await world.loop.settle();
    await world.loop.advance(60_000);
    await world.run(world.client(ConfigMap).patch(PLACE, { type: "merge", changes: { data: { k: "v" } } }));
    await world.loop.settle();

    const events = await world.events(object);
    expect(events.map(({ count, lastTimestamp }) => [count, lastTimestamp])).toEqual([
      [4, "2026-01-01T00:01:00Z"],
    ]);
    const writes = link.requests.filter(({ path }) => path.includes("/events")).map(({ method }) => method);
    expect(writes).toEqual(["POST", "PATCH"]);
  });

  test("many similar ones become one", async () => {
    const world = await startRuntimeFixture();
    const object = await world.run(world.client(ConfigMap).create({ metadata: PLACE }));
    const events = Array.from({ length: 20 }, (_, n) => ({ ...SEEN, message: `number ${n}` }));

    world.start("m", { controllers: [recording(...events)] });
    await world.loop.settle();

    const found = await world.events(object);
    expect(found).toHaveLength(10);
    const combined = found.filter(({ message }) => message?.startsWith("(combined from similar events): "));
    expect(combined.map(({ count, message }) => [count, message])).toEqual([
      [11, "(combined from similar events): number 19"],
    ]);
  });

  test("of a series, the first repetition is written at once, and how many there were when it has ended", async () => {
    const world = await startRuntimeFixture();
    const object = await world.run(world.client(ConfigMap).create({ metadata: PLACE }));
    const routine: Routine = {
      name: "series",
      events: "series",
      reads: [ConfigMap],
      run: async ({ event, loop }, signal) => {
        for (let n = 0; n < 4; n++) {
          const message = `number ${n}`;
          loop.timer(loop.now() + n * 60_000, "periodic", () => event(object, { ...SEEN, message }));
        }
        await untilAborted(signal);
      },
    };

    const { link } = world.start("m", { routines: [routine] });
    const told: (readonly [number | undefined, string | undefined])[] = [];
    for (const ms of [1000, 60_000, 120_000, 900_000]) {
      await world.loop.advance(ms);
      const [event] = await world.events(object);
      told.push([event?.series?.count, event?.series?.lastObservedTime]);
    }

    expect(told).toEqual([
      [undefined, undefined],
      [2, "2026-01-01T00:01:00.000000Z"],
      [2, "2026-01-01T00:01:00.000000Z"],
      [4, "2026-01-01T00:03:00.000000Z"],
    ]);
    expect(await world.events(object)).toMatchObject([
      {
        involvedObject: { name: "a", resourceVersion: object.metadata.resourceVersion },
        message: "number 0",
        eventTime: "2026-01-01T00:00:00.000000Z",
        action: "Seen",
        source: {},
        reportingComponent: "series",
        reportingInstance: "series-m",
      },
    ]);
    const writes = link.requests.filter(({ path }) => path.includes("/events")).map(({ method }) => method);
    expect(writes).toEqual(["POST", "PATCH", "PATCH"]);
  });

  test("of a series that has ended, or about another version of the object, are another series", async () => {
    const world = await startRuntimeFixture();
    const object = await world.run(world.client(ConfigMap).create({ metadata: PLACE }));
    const other = { ...object, metadata: { ...object.metadata, resourceVersion: "77" } };
    const routine: Routine = {
      name: "series",
      events: "series",
      reads: [ConfigMap],
      run: async ({ event, loop }, signal) => {
        event(object, SEEN);
        event(other, { ...SEEN, related: object, reporter: "somebody" });
        loop.timer(loop.now() + 800_000, "periodic", () => event(object, SEEN));
        await untilAborted(signal);
      },
    };

    world.start("m", { routines: [routine] });
    await world.loop.advance(900_000);

    const events = await world.events(object);
    expect(
      events.map(({ involvedObject, related, reportingComponent, series }) => [
        involvedObject.resourceVersion,
        related?.name,
        reportingComponent,
        series,
      ]),
    ).toEqual([
      [object.metadata.resourceVersion, undefined, "series", undefined],
      ["77", "a", "somebody", undefined],
      [object.metadata.resourceVersion, undefined, "series", undefined],
    ]);
  });

  test("about something without a namespace lie in default", async () => {
    const world = await startRuntimeFixture();
    const controller = defineController({
      name: "namespaces",
      for: Namespace,
      reconcile: async (object, { event }) => event(object, SEEN),
    });

    world.start("m", { controllers: [controller] });
    await world.loop.settle();

    const found = await world.events(await world.run(world.client(Namespace).get({ name: "default" })));
    expect(found.map(({ metadata, message }) => [metadata.namespace, message])).toEqual([
      ["default", "it is there"],
    ]);
  });

  test("are written with their repetition when the first write is refused", async () => {
    const world = await startRuntimeFixture();
    const { metadata, ...rest } = await world.run(world.client(ConfigMap).create({ metadata: PLACE }));
    const object = { ...rest, metadata: { ...metadata, namespace: "later" } };
    const routine: Routine = {
      name: "early",
      reads: [ConfigMap],
      run: async ({ event, loop }, signal) => {
        link.mode = "slow";
        event(object, SEEN);
        loop.timer(loop.now() + 500, "progress", () => event(object, SEEN));
        await untilAborted(signal);
      },
    };

    const { link, metrics } = world.start("m", { routines: [routine] });
    await world.loop.advance(700);
    await world.run(world.client(Namespace).create({ metadata: { name: "later" } }));
    await world.loop.settle();

    expect((await world.events(object)).map(({ count }) => count)).toEqual([2]);
    expect(await metrics.expose()).toContain('setpoint_events_total{result="failed"} 1');
  });

  test("that wait when the manager stops are still written", async () => {
    const world = await startRuntimeFixture();
    const object = await world.run(world.client(ConfigMap).create({ metadata: PLACE }));
    const events = Array.from({ length: 20 }, (_, n) => ({ ...SEEN, reason: `Seen${n}` }));
    const controller = defineController({
      name: "last",
      for: ConfigMap,
      reconcile: async (each, { event }) => {
        for (const next of events) event(each, next);
        stop();
      },
    });

    const { ended, stop } = world.start("m", { controllers: [controller] });
    await world.run(ended);

    expect(await world.events(object)).toHaveLength(20);
  });

  test("hold the end of the manager up for one second at most", async () => {
    const world = await startRuntimeFixture();
    await world.run(world.client(ConfigMap).create({ metadata: PLACE }));
    const stopped = { at: 0 };
    const controller = defineController({
      name: "mute",
      for: ConfigMap,
      reconcile: async (each, { event }) => {
        link.mode = "silent";
        for (let n = 0; n < 20; n++) event(each, { ...SEEN, reason: `Seen${n}` });
        stopped.at = world.loop.now();
        stop();
      },
    });

    const { ended, link, metrics, stop } = world.start("m", { controllers: [controller] });
    await world.run(ended);

    expect(world.loop.now() - stopped.at).toBe(1000);
    expect(await metrics.expose()).toContain('setpoint_events_total{result="failed"} 20');
  });

  test("are retried when the server cannot take them, dropped after a while, and delay no reconcile", async () => {
    const world = await startRuntimeFixture();
    const object = await world.run(world.client(ConfigMap).create({ metadata: PLACE }));
    const controller = defineController({
      name: "cut",
      for: ConfigMap,
      reconcile: async (each, { event }) => {
        link.mode = "refused";
        event(each, SEEN);
      },
    });
    const { link, metrics, passes } = world.start("m", { controllers: [controller] });

    await world.loop.until(() => passes.length > 0);
    await world.loop.advance(3600_000);

    expect(passes[0]?.result).toBe("done");
    expect(await world.events(object)).toEqual([]);
    expect(await metrics.expose()).toContain('setpoint_events_total{result="failed"} 1');
  });
});
