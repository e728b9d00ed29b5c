/** A kind of one's own and the loop that keeps it: a heater is on while a room is colder than it should be. */
import { ConfigMap } from "setpoint/resources";
import { defineController, defineResource, t, watching, withCondition } from "setpoint/runtime";
import type { ChildManifest, ObjectOf } from "setpoint/runtime";

export const Thermostat = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Thermostat",
  shortNames: ["thermo"],
  spec: t.object({
    target: t.number({ minimum: 5, maximum: 30 }).default(20),
    sensor: t.string({ minLength: 1 }).describe("The ConfigMap whose `degrees` says how warm it is."),
  }),
  status: t.object({
    heating: t.boolean(),
    observedGeneration: t.integer().optional(),
    conditions: t.conditions(),
  }),
  columns: [
    { name: "Target", path: ".spec.target", type: "number" },
    { name: "Heating", path: ".status.heating", type: "boolean" },
  ],
});
export type Thermostat = ObjectOf<typeof Thermostat>;

export const thermostats = defineController<Thermostat>({
  name: "thermostat",
  for: Thermostat,
  owns: [ConfigMap],
  watches: [
    watching(ConfigMap, ({ before, after }, cache) => {
      const { name, namespace = "" } = (after ?? before)?.metadata ?? {};
      const all = cache(Thermostat).list({ namespace });
      return all.filter(({ spec }) => spec.sensor === name).map(({ metadata }) => metadata);
    }),
  ],
  finalizer: "example.com/heater-off",
  async reconcile(thermostat, { cache, children, clock, event, updateStatus }) {
    const { metadata, spec, status } = thermostat;
    const sensor = cache(ConfigMap).find({ namespace: metadata.namespace, name: spec.sensor });
    const degrees = Number(sensor?.data?.["degrees"] ?? Number.NaN);
    const heating = degrees < spec.target;
    await children([heater(thermostat, heating ? "on" : "off")]);
    if (heating !== (status?.heating ?? false)) {
      event(thermostat, {
        type: "Normal",
        reason: heating ? "HeatingOn" : "HeatingOff",
        message: `at ${String(degrees)} °C`,
      });
    }
    const ready = Number.isNaN(degrees)
      ? ({
          type: "Ready",
          status: "False",
          reason: "NoReading",
          message: `ConfigMap ${spec.sensor} has no degrees`,
        } as const)
      : ({ type: "Ready", status: "True", reason: "Measured" } as const);
    const moment = { now: clock.now(), observedGeneration: metadata.generation };
    await updateStatus(thermostat, { heating, conditions: withCondition(status?.conditions, ready, moment) });
  },
  async finalize(thermostat, { children }) {
    await children([heater(thermostat, "off")]);
  },
});

function heater({ metadata }: Thermostat, power: "on" | "off"): ChildManifest {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: `${metadata.name}-heater` },
    data: { power },
  };
}
