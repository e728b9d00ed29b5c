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

describe("a custom kind that keeps fields beyond those of its schema", () => {
  const properties = { spec: { type: "object" } };
  const root = { type: "object", description: "d", properties, "x-kubernetes-preserve-unknown-fields": true };

  test("is any object to clients of OpenAPI v2, which would refuse the other fields", () => {
    expect(published(root, "v2")).toEqual({ type: "object", "x-kubernetes-group-version-kind": GVK });
  });

  test("has its fields and says that there may be others in OpenAPI v3", () => {
    expect(published(root, "v3")).toMatchObject({ ...root, properties: { ...properties, kind: {} } });
  });

  test("has them in one place: only that place may be anything in OpenAPI v2", () => {
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

test("kubectl finds the words by which it explains the fields of every object", () => {
  expect(published({ type: "object" }, "v3")).toMatchObject({
    properties: {
      apiVersion: { description: expect.stringMatching(/^APIVersion defines /) as unknown },
      metadata: { description: expect.stringMatching(/^Standard object's metadata/) as unknown },
    },
  });
});

test.each(["v2", "v3"] as const)("clients of OpenAPI %s learn which fields can be selected by", (dialect) => {
  const facts = { ...FACTS, fieldSelectors: ["spec.color", "spec.size"] };
  const [, definition] = customDefinitions(facts, { type: "object" }, dialect)[0] ?? [];

  expect(definition).toMatchObject({
    "x-kubernetes-selectable-fields": [{ fieldPath: "spec.color" }, { fieldPath: "spec.size" }],
  });
});

describe("a published schema", () => {
  test("says that an object within another one says what it is", () => {
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

  test("says in OpenAPI v3 what a number or text is", () => {
    const port = { "x-kubernetes-int-or-string": true };

    expect(published({ type: "object", properties: { port } }, "v3")).toHaveProperty("properties.port", {
      ...port,
      anyOf: [{ type: "integer" }, { type: "string" }],
    });
  });

  test("has no defaults in OpenAPI v2", () => {
    const color = { type: "string", default: "red" };

    expect(published({ type: "object", properties: { color } }, "v2")).toHaveProperty("properties.color", {
      type: "string",
    });
  });
});
