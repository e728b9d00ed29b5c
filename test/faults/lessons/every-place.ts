/** Places of lists and maps in the objects of every stored kind, from the schema facts: new fields are covered without being named. */
import { findKindSchema } from "../../../src/api/schema/built-in-schema.ts";
import { apiVersionOf, groupVersions, isServedByDefault } from "../../../src/api/schema/resource-facts.ts";
import type { ResourceFacts } from "../../../src/api/schema/resource-facts.ts";
import type { ListSchema, MapSchema, Schema, StructSchema } from "../../../src/api/schema/schema.ts";
import { MINIMAL_OBJECTS } from "../../conformance/minimal-objects.ts";

/** Path to a value: names of fields, the first item of a list, a key of a map. */
export type Step = { readonly field: string } | { readonly key: string } | "first";

export interface Place<S extends Schema = Schema> {
  readonly steps: readonly Step[];
  readonly schema: S;
}

/** A kind with its smallest accepted object. */
export interface KindSample {
  readonly facts: ResourceFacts;
  readonly schema: StructSchema;
  readonly object: object;
}

export function* kindSamples(): Generator<KindSample> {
  for (const facts of groupVersions()
    .filter(isServedByDefault)
    .flatMap(({ resources }) => resources)) {
    const apiVersion = apiVersionOf(facts);
    const minimal = MINIMAL_OBJECTS[`${apiVersion} ${facts.kind}`];
    const schema = findKindSchema(apiVersion, facts.kind);
    if (facts.storage === undefined || minimal === undefined || schema === undefined) continue;
    const object = { apiVersion, kind: facts.kind, metadata: { name: minimal.name }, ...minimal.body };
    yield { facts, schema, object };
  }
}

/** Fields of the same struct once, wherever it is used. */
export function* listsAndMaps(
  { steps, schema }: Place,
  seen: Set<string>,
): Generator<Place<ListSchema | MapSchema>> {
  if (schema.type === "list") {
    yield { steps, schema };
    yield* listsAndMaps({ steps: [...steps, "first"], schema: schema.items }, seen);
  } else if (schema.type === "map") {
    yield { steps, schema };
    yield* listsAndMaps({ steps: [...steps, { key: "k" }], schema: schema.values }, seen);
  } else if (schema.type === "struct") {
    for (const { name, schema: inner } of schema.fields) {
      const id = `${schema.definition}.${name}`;
      if (seen.has(id)) continue;
      seen.add(id);
      yield* listsAndMaps({ steps: [...steps, { field: name }], schema: inner }, seen);
    }
  }
}

export function withValue(base: unknown, [step, ...rest]: readonly Step[], value: unknown): unknown {
  if (step === undefined) return value;
  if (step === "first") {
    const [first, ...others] = (base ?? []) as readonly unknown[];
    return [withValue(first, rest, value), ...others];
  }
  const name = "field" in step ? step.field : step.key;
  const holder = (base ?? {}) as Readonly<Record<string, unknown>>;
  const inner = Object.hasOwn(holder, name) ? holder[name] : undefined;
  return { ...holder, [name]: withValue(inner, rest, value) };
}

export function placeText({ steps }: Place): string {
  return steps.map((step) => (step === "first" ? "0" : "field" in step ? step.field : step.key)).join(".");
}

export function collectionOf({ group, version, name, namespaced }: ResourceFacts): string {
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  return `${root}/${namespaced ? "namespaces/default/" : ""}${name}`;
}
