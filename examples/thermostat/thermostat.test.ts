import { startCluster } from "setpoint";
import type { Cluster } from "setpoint";
import { isApiError } from "setpoint/api";
import { ConfigMap, Event } from "setpoint/resources";
import { findCondition } from "setpoint/runtime";
import { describe, expect, test } from "vitest";
import { Thermostat, thermostats } from "./thermostat.ts";

describe.each([1, 2, 3])("a thermostat, seed %s", (seed) => {
  test("heats while the room is colder than it should be", async () => {
    await using cluster = await start(seed);
    await measure(cluster, 18);
    await cluster.client(Thermostat).create({ metadata: { name: "hall" }, spec: { sensor: "hall" } });
    await cluster.settle();
    expect(power(cluster)).toBe("on");

    await measure(cluster, 21);
    await cluster.settle();

    expect(power(cluster)).toBe("off");
    const reasons = cluster.objects(Event, "default").map(({ reason }) => reason);
    expect(new Set(reasons)).toEqual(new Set(["HeatingOff", "HeatingOn"]));
  });

  test("says in a condition that it knows nothing without a reading", async () => {
    await using cluster = await start(seed);
    await cluster.client(Thermostat).create({ metadata: { name: "hall" }, spec: { sensor: "hall" } });
    await cluster.settle();

    const [hall] = cluster.objects(Thermostat);

    expect(hall?.spec.target).toBe(20);
    expect(hall?.status).toMatchObject({ heating: false, observedGeneration: 1 });
    expect(findCondition(hall?.status?.conditions, "Ready")).toMatchObject({
      status: "False",
      reason: "NoReading",
    });
  });

  test("creates the heater again after a user deletes it", async () => {
    await using cluster = await warmHall(seed);

    await cluster.client(ConfigMap).delete({ name: "hall-heater" });
    await cluster.settle();

    expect(power(cluster)).toBe("on");
  });

  test("writes nothing once all is well", async () => {
    await using cluster = await warmHall(seed);
    const before = [cluster.objects(Thermostat), cluster.objects(ConfigMap)];

    await cluster.clock.advance("24h");

    expect([cluster.objects(Thermostat), cluster.objects(ConfigMap)]).toEqual(before);
  });

  test("switches the heater off before it goes", async () => {
    await using cluster = await warmHall(seed);

    await cluster.client(Thermostat).delete({ name: "hall" });
    await cluster.settle();

    expect(cluster.objects(Thermostat)).toEqual([]);
    expect(power(cluster) ?? "gone").not.toBe("on");
  });

  test("goes on in a fork, as after a crash", async () => {
    await using cluster = await warmHall(seed);

    await using fork = await cluster.fork();
    await measure(fork, 25);
    await fork.settle();

    expect([power(cluster), power(fork)]).toEqual(["on", "off"]);
  });

  test("is refused when it asks for more than 30 degrees", async () => {
    await using cluster = await start(seed);

    const creating = cluster
      .client(Thermostat)
      .create({ metadata: { name: "sauna" }, spec: { sensor: "x", target: 90 } });

    await expect(creating).rejects.toSatisfy((error) => isApiError(error, "Invalid"));
  });
});

function start(seed: number): Promise<Cluster> {
  return startCluster({
    clock: "virtual",
    seed,
    loops: "none",
    kinds: [Thermostat],
    controllers: [thermostats],
  });
}

/** It has 18 degrees and should have 20. */
async function warmHall(seed: number): Promise<Cluster> {
  const cluster = await start(seed);
  await measure(cluster, 18);
  await cluster.client(Thermostat).create({ metadata: { name: "hall" }, spec: { sensor: "hall" } });
  await cluster.settle();
  return cluster;
}

async function measure(cluster: Cluster, degrees: number): Promise<void> {
  const reading = { metadata: { name: "hall" }, data: { degrees: String(degrees) } };
  await cluster.client(ConfigMap).apply(reading, { fieldManager: "sensor" });
}

function power(cluster: Cluster): string | undefined {
  const heater = cluster
    .objects(ConfigMap, "default")
    .find(({ metadata }) => metadata.name === "hall-heater");
  return heater?.data?.["power"];
}
