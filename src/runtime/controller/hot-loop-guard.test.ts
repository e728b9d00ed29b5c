import { describe, expect, test } from "vitest";
import type { ApiObject } from "../../api/api-object.ts";
import type { Cause, Causes } from "../../api/causes/cause.ts";
import { Deployment } from "../../api/generated/types/apps-v1.ts";
import type { ManagedFieldsEntry } from "../../api/generated/types/meta-v1.ts";
import { apiInteger } from "../../api/values/plain-number.ts";
import { silentLog } from "../../base/log/log.ts";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import { createMetrics } from "../../base/metrics/prom-metrics.ts";
import type { ObservedEvent } from "../events/event-correlation.ts";
import { HotLoopGuard } from "./hot-loop-guard.ts";

interface Bench {
  readonly guard: HotLoopGuard;
  readonly loop: VirtualLoop;
  readonly events: ObservedEvent[];
  readonly metrics: ReturnType<typeof createMetrics>;
}

function bench(): Bench {
  const loop = new VirtualLoop({ seed: 1 });
  const events: ObservedEvent[] = [];
  const metrics = createMetrics();
  const recorder = { record: (event: ObservedEvent) => void events.push(event) };
  const guard = new HotLoopGuard({ controller: "ours", loop, log: silentLog, metrics, recorder });
  return { guard, loop, events, metrics };
}

function deployment(
  resourceVersion: number,
  replicas: number,
  managedFields: ManagedFieldsEntry[] = [],
): ApiObject {
  const metadata = { name: "web", namespace: "default", uid: "u", resourceVersion: String(resourceVersion) };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { ...metadata, managedFields },
    spec: { replicas },
  } as ApiObject;
}

function changed(resourceVersion: number): Cause {
  return {
    type: "object",
    group: "apps",
    kind: "Deployment",
    namespace: "default",
    name: "web",
    resourceVersion: String(resourceVersion),
  };
}

function causes(...kept: readonly Cause[]): Causes {
  return { kept, count: kept.length };
}

/** A pass that was caused by `cause` and wrote revision `version`. */
function writingPass({ guard }: Bench, cause: Cause, version: number): number {
  const object = deployment(version, version % 2);
  const isEffective = guard.noteWrite("default/web", { type: Deployment, object, outcome: "stored" });
  return guard.holdMs("default/web", causes(cause), isEffective ? object : undefined);
}

describe("HotLoopGuard", () => {
  test("a key that only its own writes keep busy is reported and slowed down more and more", () => {
    const world = bench();
    const holds: number[] = [];

    for (let version = 100; version < 160; version++)
      holds.push(writingPass(world, changed(version - 1), version));

    expect(holds.slice(0, 49).every((hold) => hold === 0)).toBe(true);
    expect(holds.slice(49, 53)).toEqual([1000, 2000, 4000, 8000]);
    expect(Math.max(...holds)).toBe(60_000);
    expect(world.events).toHaveLength(1);
    expect(world.events[0]?.event).toMatchObject({ type: "Warning", reason: "HotLoop" });
    expect(world.events[0]?.event.message).toContain("last at spec.replicas");
  });

  test("a hot loop is counted", async () => {
    const world = bench();
    for (let version = 100; version < 150; version++) writingPass(world, changed(version - 1), version);

    expect(await world.metrics.expose()).toContain(
      'setpoint_hot_loops_total{controller="ours",type="own writes"} 1',
    );
  });

  test("passes that other writers cause are no hot loop, however many there are", () => {
    const world = bench();

    const holds = Array.from({ length: 200 }, (_, n) => writingPass(world, changed(10_000 + n), 100 + n));

    expect(holds.every((hold) => hold === 0)).toBe(true);
  });

  test("passes that change nothing are no hot loop", () => {
    const { guard } = bench();
    const object = deployment(7, 1);
    const holds = Array.from({ length: 200 }, () => {
      const isEffective = guard.noteWrite("k", { type: Deployment, object, outcome: "stored" });
      return guard.holdMs("k", causes(changed(7)), isEffective ? object : undefined);
    });

    expect(holds.every((hold) => hold === 0)).toBe(true);
  });

  test("a steady beat within the window is no hot loop", async () => {
    const world = bench();
    const holds: number[] = [];
    for (let version = 100; version < 200; version++) {
      holds.push(writingPass(world, changed(version - 1), version));
      await world.loop.advance(5000);
    }

    expect(holds.every((hold) => hold === 0)).toBe(true);
  });

  test("a key that becomes quiet is no longer delayed", async () => {
    const world = bench();
    for (let version = 100; version < 150; version++) writingPass(world, changed(version - 1), version);
    await world.loop.advance(600_000);

    expect(world.guard.holdMs("default/web", causes(changed(149)), undefined)).toBe(0);
  });

  test.each([
    ["small", 1],
    ["beyond 2^53", apiInteger(2n ** 60n)],
  ])("a field that two writers set back and forth is reported with both of them, %s", (_name, number) => {
    const world = bench();
    const theirs = [{ manager: "theirs", operation: "Update", fieldsV1: { "f:spec": { "f:replicas": {} } } }];
    for (let n = 0; n < 8; n++) {
      const ours = deployment(100 + 2 * n, number);
      world.guard.noteWrite("default/web", { type: Deployment, object: ours, outcome: "stored" });
      world.guard.noteChange({ before: ours, after: deployment(101 + 2 * n, 5, theirs) });
    }

    expect(world.events.map(({ event }) => event.message)).toEqual([
      "ours and theirs set spec.replicas back and forth",
    ]);
    expect(world.guard.holdMs("default/web", causes(changed(115)), undefined)).toBeGreaterThanOrEqual(1000);
  });

  test("two writers of different values, or of different fields, are no hot loop", () => {
    const world = bench();
    for (let n = 0; n < 50; n++) {
      const ours = deployment(100 + 2 * n, 1);
      world.guard.noteWrite("default/web", { type: Deployment, object: ours, outcome: "stored" });
      world.guard.noteChange({ before: ours, after: deployment(101 + 2 * n, 5 + n) });
    }

    expect(world.events).toEqual([]);
  });
});
