import { describe, expect, test } from "vitest";
import type { JSONSchemaProps } from "../../../api/generated/types/apiextensions-v1.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import type { ResourceFacts } from "../../../api/schema/resource-facts.ts";
import { customDefinitions } from "./custom-definition.ts";
import type { Dialect } from "./definition-name.ts";

const FACTS: ResourceFacts = {
  name: "widgets",
  singular: "widget",
  group: "example.com",
  version: "v1",
  kind: "Widget",
  namespaced: true,
  verbs: [],
  shortNames: [],
  categories: [],
  subresources: [],
  storage: undefined,
  columns: undefined,
  fieldSelectors: [],
  definition: "com.example.v1.Widget",
};
const GVK = [{ group: "example.com", version: "v1", kind: "Widget" }];

function published(schema: JSONSchemaProps, dialect: Dialect): JsonObject | undefined {
  return customDefinitions(FACTS, schema, dialect)[0]?.[1];
}

describe("a custom kind that preserves unknown fields", () => {
  const properties = { spec: { type: "object" } };
  const root = { type: "object", description: "d", properties, "x-kubernetes-preserve-unknown-fields": true };

  test("OpenAPI v2 shows any object, because v2 clients would refuse unknown fields", () => {
    expect(published(root, "v2")).toEqual({ type: "object", "x-kubernetes-group-version-kind": GVK });
  });

  test("OpenAPI v3 shows the known fields and that others are allowed", () => {
    expect(published(root, "v3")).toMatchObject({ ...root, properties: { ...properties, kind: {} } });
  });

  test("OpenAPI v2 shows any value only at the place with unknown fields", () => {
    const open = { ...root, "x-kubernetes-embedded-resource": true };
    const schema = { type: "object", properties: { open, closed: { type: "string" } } };

    expect(published(schema, "v2")).toMatchObject({
      type: "object",
      properties: { closed: { type: "string" } },
    });
    expect(published(schema, "v2")).toHaveProperty("properties.open", {
      description: "d",
      "x-kubernetes-embedded-resource": true,
      "x-kubernetes-preserve-unknown-fields": true,
    });
  });
});

test("kubectl finds the descriptions of the fields that every object has", () => {
  expect(published({ type: "object" }, "v3")).toMatchObject({
    properties: {
      apiVersion: { description: expect.stringMatching(/^APIVersion defines /) as unknown },
      metadata: { description: expect.stringMatching(/^Standard object's metadata/) as unknown },
    },
  });
});

test.each(["v2", "v3"] as const)("OpenAPI %s lists the selectable fields", (dialect) => {
  const facts = { ...FACTS, fieldSelectors: ["spec.color", "spec.size"] };
  const [, definition] = customDefinitions(facts, { type: "object" }, dialect)[0] ?? [];

  expect(definition).toMatchObject({
    "x-kubernetes-selectable-fields": [{ fieldPath: "spec.color" }, { fieldPath: "spec.size" }],
  });
});

describe("a published schema", () => {
  test("an embedded object requires its kind and apiVersion", () => {
    const part = {
      type: "object",
      "x-kubernetes-embedded-resource": true,
      properties: { x: { type: "string" } },
      required: ["x"],
    };

    expect(published({ type: "object", properties: { part } }, "v3")).toHaveProperty(
      "properties.part.required",
      ["x", "kind", "apiVersion"],
    );
  });

  test("OpenAPI v3 keeps the constraints of numbers and texts", () => {
    const port = { "x-kubernetes-int-or-string": true };

    expect(published({ type: "object", properties: { port } }, "v3")).toHaveProperty("properties.port", {
      ...port,
      anyOf: [{ type: "integer" }, { type: "string" }],
    });
  });

  test("OpenAPI v2 has no defaults", () => {
    const color = { type: "string", default: "red" };

    expect(published({ type: "object", properties: { color } }, "v2")).toHaveProperty("properties.color", {
      type: "string",
    });
  });
});
