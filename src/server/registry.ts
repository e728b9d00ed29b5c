/**
 * All resources that are served, built-in ones from the facts with the rules of their kinds. A custom resource becomes the
 * same thing at run time: nothing behind this knows which is which.
 */
import { findKindSchema } from "../api/built-in-schema.ts";
import { apiVersionOf, groupVersions, isServedByDefault } from "../api/resource-facts.ts";
import type { GroupVersionFacts, ResourceFacts, StorageFacts } from "../api/resource-facts.ts";
import type { StructSchema } from "../api/schema.ts";
import type { KindDefinition, KindRules } from "../resources/kind-rules.ts";
import { convertedRules } from "./converted-rules.ts";
import type { RuleConversion } from "./converted-rules.ts";

export interface Resource {
  readonly facts: ResourceFacts;
  /** `v1`, `apps/v1`. */
  readonly apiVersion: string;
  /** Of this version. */
  readonly schema: StructSchema;
  readonly rules: KindRules;
}

/** A resource that is kept in the store. */
export interface StoredResource extends Resource {
  readonly storage: StorageFacts;
  /** The version it is kept in. */
  readonly storedAs: string;
  readonly storedSchema: StructSchema;
}

/** Which group versions are served: as `--runtime-config` says, else the stable ones. */
export type ServedVersions = (groupVersion: GroupVersionFacts) => boolean;

/** Between the versions of one kind, where they differ in more than their name. */
export interface RuleConversions {
  findRuleConversion(kind: string, served: string, ruled: string): RuleConversion | undefined;
}

export class Registry {
  readonly groupVersions: readonly GroupVersionFacts[];
  readonly #byPath = new Map<string, ResourceFacts>();
  readonly #resources = new Map<ResourceFacts, Resource>();
  readonly #definitions = new Map<string, KindDefinition>();
  readonly #conversions: RuleConversions | undefined;

  constructor(
    definitions: readonly KindDefinition[],
    isServed: ServedVersions = isServedByDefault,
    conversions?: RuleConversions,
  ) {
    this.#conversions = conversions;
    this.groupVersions = groupVersions().filter((groupVersion) => isServed(groupVersion));
    for (const { resources } of this.groupVersions) {
      for (const facts of resources) this.#byPath.set(pathOf(facts), facts);
    }
    for (const definition of definitions) this.#definitions.set(kindOf(definition), definition);
  }

  find(place: {
    readonly group: string;
    readonly version: string;
    readonly resource: string;
  }): Resource | undefined {
    const facts = this.#byPath.get(`${place.group}/${place.version}/${place.resource}`);
    return facts === undefined ? undefined : this.resource(facts);
  }

  /** Made when first asked for: most kinds are never touched. */
  resource(facts: ResourceFacts): Resource {
    const known = this.#resources.get(facts);
    if (known !== undefined) return known;
    const made = this.#make(facts);
    this.#resources.set(facts, made);
    return made;
  }

  #make(facts: ResourceFacts): Resource {
    const apiVersion = apiVersionOf(facts);
    const resource = {
      facts,
      apiVersion,
      schema: schemaOf(apiVersion, facts.kind),
      rules: this.#rulesOf(facts),
    };
    if (facts.storage === undefined) return resource;
    const storedAs = apiVersionOf(facts.storage);
    const stored: StoredResource = {
      ...resource,
      storage: facts.storage,
      storedAs,
      storedSchema: schemaOf(storedAs, facts.kind),
    };
    return stored;
  }

  /** The versions of a kind share the rules of the one that has any. */
  #rulesOf({ group, version, kind }: ResourceFacts): KindRules {
    const apiVersion = apiVersionOf({ group, version });
    const definition = this.#definitions.get(`${group} ${kind}`);
    if (definition === undefined) return {};
    const rules = definition.rules as KindRules;
    const conversion = this.#conversions?.findRuleConversion(kind, apiVersion, definition.apiVersion);
    return conversion === undefined ? rules : convertedRules(rules, conversion);
  }
}

function kindOf({ apiVersion, kind }: KindDefinition): string {
  const slash = apiVersion.indexOf("/");
  return `${slash < 0 ? "" : apiVersion.slice(0, slash)} ${kind}`;
}

export function isStored(resource: Resource): resource is StoredResource {
  return "storage" in resource;
}

/** A resource that the server itself cannot do without. */
export function requireStored(registry: Registry, group: string, name: string): StoredResource {
  const resource = registry.find({ group, version: "v1", resource: name });
  if (resource === undefined || !isStored(resource))
    throw new Error(`${name} of group "${group}" are not served`);
  return resource;
}

function schemaOf(apiVersion: string, kind: string): StructSchema {
  const schema = findKindSchema(apiVersion, kind);
  if (schema === undefined) throw new Error(`the published API has no structure for ${apiVersion} ${kind}`);
  return schema;
}

function pathOf({
  group,
  version,
  name,
}: {
  readonly group: string;
  readonly version: string;
  readonly name: string;
}): string {
  return `${group}/${version}/${name}`;
}
