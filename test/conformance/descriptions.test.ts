/** Descriptions that name a default name the one that the server fills in. */
import { expect, test } from "vitest";
import { findKindSchema } from "../../src/api/schema/built-in-schema.ts";
import { apiVersionOf, groupVersions } from "../../src/api/schema/resource-facts.ts";
import type { ResourceFacts } from "../../src/api/schema/resource-facts.ts";
import { childSchema, type Schema } from "../../src/api/schema/schema.ts";
import { Descriptions } from "../../src/server/routes/openapi/descriptions.ts";
import { TestApi } from "../api-harness.ts";
import { MINIMAL_OBJECTS } from "./minimal-objects.ts";

interface Filled {
  readonly value: string;
  readonly description: string;
}

const descriptions = new Descriptions();

test("a default in a description is the one that the server fills in", async () => {
  const api = await TestApi.start(["default"], { isServed: () => true });
  const filled: Filled[] = [];

  for (const [facts, name, body] of minimalObjects()) {
    const apiVersion = apiVersionOf(facts);
    const object = { apiVersion, kind: facts.kind, metadata: { name }, ...body };
    const reply = await api.send("POST", collectionOf(facts), object);
    const schema = findKindSchema(apiVersion, facts.kind);
    if (schema !== undefined && reply.code === 201) gather(schema, { sent: object, got: reply.body }, filled);
  }

  const named = filled.filter(({ description }) => /\bdefault\b/i.test(description));
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter(({ value, description }) => !description.includes(value))).toEqual([]);
});

function* minimalObjects(): Generator<readonly [ResourceFacts, string, object]> {
  for (const facts of groupVersions().flatMap(({ resources }) => resources)) {
    const minimal = MINIMAL_OBJECTS[`${apiVersionOf(facts)} ${facts.kind}`];
    if (facts.storage !== undefined && minimal !== undefined) yield [facts, minimal.name, minimal.body];
  }
}

function collectionOf({ group, version, name, namespaced }: ResourceFacts): string {
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  return `${root}/${namespaced ? "namespaces/default/" : ""}${name}`;
}

/** Every scalar of an object that its author did not send. */
function gather(schema: Schema, { sent, got }: { sent: unknown; got: unknown }, filled: Filled[]): void {
  if (typeof got !== "object" || got === null) return;
  for (const [key, value] of Object.entries(got)) {
    const given = (sent as Readonly<Record<string, unknown>> | undefined)?.[key];
    if (schema.type === "struct" && given === undefined && typeof value !== "object")
      filled.push({ value: String(value), description: descriptions.ofField(schema, key) ?? "" });
    const child = childSchema(schema, Array.isArray(got) ? Number(key) : key);
    if (child !== undefined) gather(child, { sent: given, got: value }, filled);
  }
}
