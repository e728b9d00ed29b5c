import { expect, test } from "vitest";
import { silentLog } from "../../base/log/log.ts";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import { createMetrics } from "../../base/metrics/prom-metrics.ts";
import { RunningPasses } from "./running-passes.ts";

test("a pass of more than a minute makes the controller unhealthy, and is counted, until it ends", async () => {
  const loop = new VirtualLoop({ seed: 1 });
  const metrics = createMetrics();
  const passes = new RunningPasses({ controller: "ours", loop, log: silentLog, metrics });
  passes.publish();
  const end = passes.begin("default/web");

  await loop.advance(59_000);
  const before = passes.health();
  await loop.advance(2000);
  const during = passes.health();
  const exposed = await metrics.expose();
  const isEnded = end();

  expect(before).toBeUndefined();
  expect(during).toBe("ours: the pass of default/web has not ended for 61 s");
  expect(exposed).toContain('setpoint_controller_overdue_passes{controller="ours"} 1');
  expect([isEnded, passes.health()]).toEqual([true, undefined]);
});

test("a pass that ignores the stop is abandoned after three seconds, by name", async () => {
  const loop = new VirtualLoop({ seed: 1 });
  const passes = new RunningPasses({ controller: "ours", loop, log: silentLog, metrics: createMetrics() });
  const end = passes.begin("default/web");
  const errors: Error[] = [];

  passes.stop((error) => void errors.push(error));
  await loop.advance(2900);
  const before = errors.length;
  await loop.advance(200);

  expect(before).toBe(0);
  expect(errors.map(({ message }) => message)).toEqual([
    "reconcile default/web of ours ignores the stop: end it when its signal aborts",
  ]);
  expect(end()).toBe(false);
});
