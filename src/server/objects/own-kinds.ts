/** Adds the virtual kinds that this server defines to the custom kinds, for lookup, discovery and OpenAPI. */
import type { JSONSchemaProps } from "../../api/generated/types/apiextensions-v1.ts";
import { apiVersionOf } from "../../api/schema/resource-facts.ts";
import type { GroupVersionFacts, ResourceFacts } from "../../api/schema/resource-facts.ts";
import { kindStruct } from "../../api/structural/schema-nodes.ts";
import { compileStructural } from "../../api/structural/structural.ts";
import type { KindRules } from "../../resources/rules/kind-rules.ts";
import type { CustomResources, Resource } from "./registry.ts";

type Place = Parameters<CustomResources["find"]>[0];

/** A group version of virtual kinds. */
export interface OwnGroupVersion {
  readonly group: string;
  readonly version: string;
  /** Priority in discovery. */
  readonly order: readonly [group: number, version: number];
  readonly resources: readonly OwnResource[];
}

export interface OwnResource extends Resource {
  readonly openApi: JSONSchemaProps;
}

export interface OwnKind extends Pick<
  ResourceFacts,
  "group" | "version" | "name" | "kind" | "namespaced" | "verbs"
> {
  readonly singular?: string;
  readonly fieldSelectors?: readonly string[];
  /** Name of the schema in OpenAPI. */
  readonly definition: string;
  readonly openApi: JSONSchemaProps;
  readonly rules: KindRules;
}

export function ownResource({ openApi, rules, ...names }: OwnKind): OwnResource {
  const { group, version, kind } = names;
  const facts: ResourceFacts = {
    singular: "",
    fieldSelectors: [],
    ...names,
    shortNames: [],
    categories: [],
    subresources: [],
    storage: undefined,
    columns: undefined,
  };
  const schema = kindStruct({ group, version, kind }, compileStructural(openApi));
  return { facts, apiVersion: apiVersionOf(names), schema, rules, openApi };
}

export class OwnKinds implements CustomResources {
  readonly #others: CustomResources;
  readonly #own: ReadonlyMap<string, OwnGroupVersion>;
  readonly local: readonly GroupVersionFacts[];
  #all: { readonly others: readonly GroupVersionFacts[]; readonly list: readonly GroupVersionFacts[] };

  constructor(others: CustomResources, own: readonly OwnGroupVersion[]) {
    this.#others = others;
    this.#own = new Map(own.map((each) => [apiVersionOf(each), each]));
    this.local = own.map(({ resources, ...place }) => ({
      ...place,
      resources: resources.map(({ facts }) => facts),
    }));
    this.#all = { others: [], list: this.local };
  }

  get groupVersions(): readonly GroupVersionFacts[] {
    const others = this.#others.groupVersions;
    if (others !== this.#all.others) {
      const kept = others.filter((each) => !this.#own.has(apiVersionOf(each)));
      this.#all = { others, list: [...kept, ...this.local] };
    }
    return this.#all.list;
  }

  find(place: Place): Resource | undefined {
    const own = this.#own.get(apiVersionOf(place));
    return own === undefined
      ? this.#others.find(place)
      : own.resources.find(({ facts }) => facts.name === place.resource);
  }

  findProblem(place: Place): string | undefined {
    return this.#others.findProblem(place);
  }

  catchUp(): Promise<void> {
    return this.#others.catchUp();
  }

  findOpenApi(facts: ResourceFacts): JSONSchemaProps | undefined {
    const own = this.#own.get(apiVersionOf(facts))?.resources.find((resource) => resource.facts === facts);
    return own === undefined ? this.#others.findOpenApi(facts) : own.openApi;
  }

  editionOf(facts: ResourceFacts): string {
    const version = apiVersionOf(facts);
    return this.#own.has(version) ? version : this.#others.editionOf(facts);
  }
}
