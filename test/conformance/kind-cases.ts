/** Every stored resource that is served, with its minimal object and its paths. */
import { apiVersionOf, groupVersions, isServedByDefault } from "../../src/api/schema/resource-facts.ts";
import type { ResourceFacts } from "../../src/api/schema/resource-facts.ts";
import { MINIMAL_OBJECTS } from "./minimal-objects.ts";
import type { MinimalObject } from "./minimal-objects.ts";

export interface KindCase extends MinimalObject {
  readonly facts: ResourceFacts;
  readonly collection: string;
  readonly path: string;
  readonly object: Readonly<Record<string, unknown>> & { readonly metadata: { readonly name: string } };
}

export type KindRow = readonly [title: string, kind: KindCase];

export const SERVED = groupVersions().flatMap((groupVersion) =>
  groupVersion.resources.map((facts) => ({ facts, isDefault: isServedByDefault(groupVersion) })),
);
export const STORED = SERVED.filter(({ facts }) => facts.storage !== undefined);

export function casesOf(resources: readonly { readonly facts: ResourceFacts }[]): readonly KindRow[] {
  return resources.flatMap(({ facts }) => {
    const apiVersion = apiVersionOf(facts);
    const title = `${apiVersion} ${facts.kind}`;
    const minimal = MINIMAL_OBJECTS[title];
    if (minimal === undefined) return [];
    const { name, body } = minimal;
    const collection = collectionOf(facts);
    const object = { apiVersion, kind: facts.kind, metadata: { name }, ...body };
    const path = `${collection}/${name}`;
    return [[title, { ...minimal, facts, collection, path, object }] as const];
  });
}

export function collectionOf({ group, version, name, namespaced }: ResourceFacts): string {
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  return `${root}/${namespaced ? "namespaces/default/" : ""}${name}`;
}
