import { describe, expect, expectTypeOf, test } from "vitest";
import { defineResource } from "./resource-definition.ts";
import type { ObjectOf } from "./resource-definition.ts";
import { t } from "./schema-part.ts";

const Thermostat = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Thermostat",
  shortNames: ["th"],
  description: "Thermostat keeps a room at a temperature.",
  spec: t
    .object({
      target: t
        .number({ minimum: 5, maximum: 30 })
        .default(20)
        .describe("Target is the temperature to keep."),
      mode: t.enum("heat", "cool", "off"),
      note: t.string({ maxLength: 100 }).optional(),
      zones: t.array(t.object({ name: t.string(), share: t.intOrString() }), { keys: ["name"] }).optional(),
      labels: t.record(t.string()).default({}),
    })
    .rule("self.mode != 'off' || self.target < 25", "off is cold"),
  status: t.object({ current: t.number().nullable(), conditions: t.conditions() }),
  columns: [{ name: "Target", path: ".spec.target", type: "number" }],
});
type Thermostat = ObjectOf<typeof Thermostat>;

describe("defineResource", () => {
  test("gives the names that clients need", () => {
    expect(Thermostat).toMatchObject({
      apiVersion: "example.com/v1",
      kind: "Thermostat",
      plural: "thermostats",
      namespaced: true,
    });
  });

  test("generates the CustomResourceDefinition", () => {
    const { metadata, spec } = Thermostat.definition;
    const [version] = spec.versions;

    expect(metadata.name).toBe("thermostats.example.com");
    expect(spec).toMatchObject({
      group: "example.com",
      scope: "Namespaced",
      names: {
        plural: "thermostats",
        singular: "thermostat",
        listKind: "ThermostatList",
        shortNames: ["th"],
      },
    });
    expect(version).toMatchObject({
      name: "v1",
      served: true,
      storage: true,
      subresources: { status: {} },
      additionalPrinterColumns: [
        { name: "Target", type: "number", jsonPath: ".spec.target" },
        { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
      ],
    });
    expect(version?.schema?.openAPIV3Schema).toMatchObject({
      type: "object",
      required: ["spec"],
      description: "Thermostat keeps a room at a temperature.",
      properties: {
        spec: {
          required: ["mode"],
          "x-kubernetes-validations": [
            { rule: "self.mode != 'off' || self.target < 25", message: "off is cold" },
          ],
          properties: {
            target: { type: "number", minimum: 5, maximum: 30, default: 20 },
            mode: { type: "string", enum: ["heat", "cool", "off"] },
            zones: { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] },
            labels: { additionalProperties: { type: "string" }, default: {} },
          },
        },
        status: { properties: { current: { nullable: true } } },
      },
    });
  });

  test("infers the TypeScript type", () => {
    expectTypeOf<Thermostat["spec"]["target"]>().toEqualTypeOf<number>();
    expectTypeOf<Thermostat["spec"]["mode"]>().toEqualTypeOf<"heat" | "cool" | "off">();
    expectTypeOf<Thermostat["spec"]["note"]>().toEqualTypeOf<string | undefined>();
    expectTypeOf<NonNullable<Thermostat["spec"]["zones"]>[number]["share"]>().toEqualTypeOf<
      number | string
    >();
    expectTypeOf<NonNullable<Thermostat["status"]>["current"]>().toEqualTypeOf<number | null>();
    expectTypeOf<Thermostat["metadata"]["uid"]>().toEqualTypeOf<string>();
  });

  test("omits the status subresource and columns that are not given", () => {
    const { spec } = defineResource({
      group: "g.io",
      version: "v1",
      kind: "Box",
      scope: "Cluster",
      spec: t.object({}),
    }).definition;

    expect(spec.scope).toBe("Cluster");
    expect(spec.versions[0]).not.toHaveProperty("subresources");
    expect(spec.versions[0]).not.toHaveProperty("additionalPrinterColumns");
  });
});
